//! placeholder until the merge
/// e^{Ah} and its integral.
pub fn held(a: &[f64], n: usize, h: f64) -> (Vec<f64>, Vec<f64>) {
    let m = 2 * n;
    let mut big = vec![0.0; m * m];
    for i in 0..n {
        for j in 0..n {
            big[i * m + j] = a[i * n + j] * h;
        }
        big[i * m + n + i] = h;
    }
    let s = 20;
    big.iter_mut().for_each(|x| *x /= f64::from(1 << s));
    let mul = |a: &[f64], b: &[f64]| {
        let mut c = vec![0.0; m * m];
        for i in 0..m {
            for k in 0..m {
                for j in 0..m {
                    c[i * m + j] += a[i * m + k] * b[k * m + j];
                }
            }
        }
        c
    };
    let mut e = vec![0.0; m * m];
    (0..m).for_each(|i| e[i * (m + 1)] = 1.0);
    let mut term = e.clone();
    for k in 1..20 {
        term = mul(&term, &big);
        term.iter_mut().for_each(|x| *x /= f64::from(k));
        e.iter_mut().zip(&term).for_each(|(e, t)| *e += t);
    }
    for _ in 0..s {
        e = mul(&e, &e);
    }
    let pick = |c: usize| (0..n * n).map(|k| e[(k / n) * m + c + k % n]).collect();
    (pick(0), pick(n))
}
