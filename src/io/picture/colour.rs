//! Colours: linear light inside, sRGB at the door.

use glam::Vec3;

/// Linear colour of an sRGB value 0xRRGGBB.
pub(super) fn from_srgb(hex: u32) -> Vec3 {
    let channel = |shift: u32| {
        let c = ((hex >> shift) & 0xff) as f32 / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(channel(16), channel(8), channel(0))
}

/// The sRGB bytes of a linear colour.
pub(in crate::io) fn to_srgb(colour: Vec3) -> [u8; 3] {
    colour.to_array().map(|c| {
        let c = c.clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (255.0 * c).round() as u8
    })
}

/// Sandstone, slate, terracotta, sage, straw, heather, sea, rose.
const PALETTE: [u32; 8] = [0xd3ae7e, 0x7f9fb5, 0xbf6f52, 0x93ac7b, 0xe0d2ab, 0x9483b0, 0x5f9490, 0xcf93a6];

/// The colour that stands for a number.
pub(super) fn palette(k: u32) -> Vec3 {
    from_srgb(PALETTE[k as usize % PALETTE.len()])
}

/// A colour with a part of light grey in it, before which lines can be seen.
pub(in crate::io) fn quiet(colour: Vec3, part: f32) -> Vec3 {
    colour.lerp(Vec3::splat(0.85), part)
}

/// A multiplicative hash (Knuth) of a number: neighbours differ, most in the high bits.
pub(super) fn scatter(k: u32) -> u32 {
    k.wrapping_add(1).wrapping_mul(2_654_435_761)
}

/// A little lighter or darker and warmer or cooler from body to body, as stones are.
pub(super) fn vary(colour: Vec3, id: u32) -> Vec3 {
    let hash = scatter(id);
    let byte = |shift: u32| ((hash >> shift) & 0xff) as f32 / 127.5 - 1.0;
    let (light, warm) = (1.0 + 0.11 * byte(24), 0.035 * byte(13));
    colour * light * Vec3::new(1.0 + warm, 1.0, 1.0 - warm)
}

/// Viridis at nine places (Smith and van der Walt, CC0): equal steps look equally far apart, also in grey.
const VIRIDIS: [u32; 9] = [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];

/// Colour of `x` between 0 and 1.
pub(in crate::io) fn viridis(x: f64) -> Vec3 {
    let x = if x.is_finite() { x.clamp(0.0, 1.0) * 8.0 } else { 8.0 };
    let k = (x as usize).min(7);
    from_srgb(VIRIDIS[k]).lerp(from_srgb(VIRIDIS[k + 1]), (x - k as f64) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_survives_the_round_trip() {
        for hex in [0x000000, 0x010203, 0x7f80ff, 0xffffff, 0xd3ae7e] {
            let [r, g, b] = to_srgb(from_srgb(hex)).map(u32::from);
            assert_eq!(r << 16 | g << 8 | b, hex);
        }
    }

    #[test]
    fn the_scale_grows_lighter_all_the_way() {
        let grey = |x: f64| viridis(x).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        assert!((0..100).all(|k| grey(f64::from(k) / 100.0) < grey(f64::from(k + 1) / 100.0)));
    }
}
