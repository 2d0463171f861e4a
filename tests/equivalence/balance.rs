//! ΔE = Σ work, each term by its own formula.

use super::scene::{Fallible, TREATMENTS, everything};
use drystone::model::scheme::Treatment;
use drystone::simulation::Balance;
use drystone::simulation::energy::Work;

#[test]
fn the_energy_balance_closes_over_every_kind_of_term_and_not_without_one() -> Fallible {
    let tolerance = 1e-9;
    for treatment in TREATMENTS {
        let (mut sim, _) = everything(treatment)?;
        let last = sim.run_until(0.5)?;
        let balance = last.balance;
        println!("{treatment:?}: error {:.1e}, {:?}", balance.error(), balance.work);
        assert!(balance.error() < tolerance, "{balance:?}");
        let work = balance.work;
        let without = [
            ("normal", Work { normal: 0.0, ..work }),
            ("friction", Work { friction: 0.0, ..work }),
            ("overlap", Work { overlap: 0.0, ..work }),
            ("joints", Work { joints: 0.0, ..work }),
            ("drives", Work { drives: 0.0, ..work }),
            ("loads", Work { loads: 0.0, ..work }),
            ("scheme", Work { scheme: 0.0, ..work }),
        ];
        for (name, work) in without {
            if name == "overlap" && matches!(treatment, Treatment::Forecast { .. }) {
                continue; // feeds no overlap back
            }
            let error = Balance { work, ..balance }.error();
            assert!(error > 10.0 * tolerance, "without {name} the balance still closes to {error:e}");
        }
    }
    Ok(())
}
