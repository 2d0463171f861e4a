//! Chains of force in a slice, from the tables of the end of a run, or from the frames of an instant, which have branches then.
//!
//! A contact that presses is a line on either side of its point, to the centres of its bodies, as wide as its normal force; lines to walls and
//! floors end at the point. A ball's centre lies on the normal, a radius away, which also holds through the faces of periodic cells.

use super::chart::{Panel, label};
use super::field_plots::View;
use super::map::{Disc, Stroke};
use super::picture::legend::digits;
use super::run_plots::{PlotError, instant};
use super::table::{read_bodies, read_text};
use super::vtk::StoredFrame;
use glam::DVec3;
use std::collections::BTreeMap;
use std::path::Path;

/// Pixels of the largest force.
const WIDEST: f64 = 11.0;
/// Centres are no farther from their contacts than so many usual distances; what is farther is a wall, or an image.
const FAR: f64 = 4.0;

/// Which number of a row of bodies is the radius.
const RADIUS: usize = 14;

/// A contact that presses.
struct Chain {
    point: DVec3,
    force: f64,
    /// Name, place and radius of the centres on both sides; no radius where it is no ball, no centre at walls.
    ends: Vec<(String, DVec3, Option<f64>)>,
}

/// Draws the contacts of a slice, at the end or in the frame that is nearest to an instant (s).
pub(super) fn chains(directory: &Path, view: &View, at: Option<f64>) -> Result<Panel, PlotError> {
    let (source, time, chains, usual) = match at {
        None => at_the_end(directory)?,
        Some(time) => in_a_frame(directory, time)?,
    };
    let axis = view.slice.map_or(1, |s| s.0);
    let [low, high] = view.slice.map_or_else(|| layer(&chains, axis, usual), |s| s.1);
    let (across, up) = [(1, 2), (0, 2), (0, 1)][axis];
    let flat = |x: DVec3| (x[across], x[up]);
    let mut shown: Vec<&Chain> = chains.iter().filter(|c| (low..=high).contains(&c.point[axis])).collect();
    shown.sort_by(|a, b| a.force.total_cmp(&b.force));
    let Some(largest) = shown.last().map(|c| c.force) else {
        let axis = ["x", "y", "z"][axis];
        return Err(PlotError::Nothing(format!("{source}: no contact presses where {low} <= {axis} <= {high}")));
    };
    let (mut discs, mut strokes) = (BTreeMap::new(), Vec::new());
    for chain in shown {
        let width = (WIDEST * chain.force / largest).round() as u32;
        for (name, end, radius) in &chain.ends {
            let (x, y) = flat(*end);
            if let Some(radius) = *radius {
                discs.insert(name.as_str(), Disc { x, y, radius });
            }
            if width > 0 {
                strokes.push(Stroke { ends: [flat(chain.point), (x, y)], width });
            }
        }
    }
    let named = |a: usize| format!("{} (m)", ["x", "y", "z"][a]);
    let axis = ["x", "y", "z"][axis];
    let [from, to] = [low, high].map(|x| label(x, (low, high)));
    let title = format!("{axis} from {from} to {to} m{}; the widest line is {} N", instant(time), digits(largest));
    let panel = Panel::new(&named(across), &named(up), Vec::new()).titled(&title).equal();
    Ok(Panel { discs: discs.into_values().collect(), strokes, ..panel })
}

/// Where contacts were found, their instant if it is not the end, and the usual distance from a contact to a centre.
type Found = (String, Option<f64>, Vec<Chain>, f64);

/// Lines between centres as they stand in a frame.
fn in_a_frame(directory: &Path, time: f64) -> Result<Found, PlotError> {
    let [contacts, branches, bodies] = ["contacts", "branches", "bodies"].map(|kind| StoredFrame::nearest(directory, kind, time));
    let (contacts, branches, bodies) = (contacts?, branches?, bodies?);
    let source = directory.join("branches.pvd").display().to_string();
    let [points, centres, places] = [&contacts, &branches, &bodies].map(|frame| frame.vectors("Points", "points"));
    let (points, centres) = (points?, centres?);
    let (force, ends) = (branches.array("CellData", "normal_force")?, branches.array("Lines", "connectivity")?);
    if points.len() != force.len() || ends.len() != 2 * force.len() {
        return Err(PlotError::Nothing(format!("{source}: its lines are not those of the contacts at {time} s")));
    }
    // ends of lines and centres of balls come from the same numbers
    let key = |x: DVec3| format!("{x:?}");
    let radii: BTreeMap<String, f64> =
        places?.into_iter().map(key).zip(bodies.array("PointData", "radius")?).filter(|(_, r)| *r > 0.0).collect();
    let mut usual: Vec<f64> = Vec::new();
    let chains = force.iter().enumerate().filter(|(_, force)| **force > 0.0).map(|(k, force)| {
        let ends = ends[2 * k..2 * k + 2].iter().filter_map(|&end| centres.get(end as usize)).copied();
        // a line to a wall ends at the contact
        let ends = ends.filter(|end| *end != points[k]).map(|end| {
            usual.push(end.distance(points[k]));
            (key(end), end, radii.get(&key(end)).copied())
        });
        Chain { point: points[k], force: *force, ends: ends.collect() }
    });
    let chains: Vec<Chain> = chains.collect();
    usual.sort_by(f64::total_cmp);
    match usual.get(usual.len() / 4) {
        Some(&usual) => Ok((source, Some(branches.time), chains, usual)),
        None => Err(PlotError::Nothing(format!("{source}: no contact presses at {} s", branches.time))),
    }
}

/// The contacts of the tables of the end.
fn at_the_end(directory: &Path) -> Result<Found, PlotError> {
    let path = directory.join("contacts_end.csv");
    struct Contact<'a> {
        bodies: [&'a str; 2],
        point: DVec3,
        normal: DVec3,
        force: f64,
    }
    let (header, rows) = read_text(&path)?;
    let column = |name: &str| {
        let found = header.iter().position(|head| head.split(' ').next() == Some(name));
        found.ok_or_else(|| PlotError::Nothing(format!("{}: found no column \"{name}\"", path.display())))
    };
    let vector = |names: [&str; 3]| Ok::<_, PlotError>([column(names[0])?, column(names[1])?, column(names[2])?]);
    let (names, at, normal) =
        ([column("body1")?, column("body2")?], vector(["x", "y", "z"])?, vector(["normal_x", "normal_y", "normal_z"])?);
    let force = column("normal_force")?;
    let number = |row: &[String], k: usize| row[k].trim().parse::<f64>().unwrap_or(f64::NAN);
    let read = |row: &'_ Vec<String>| (at.map(|k| number(row, k)).into(), normal.map(|k| number(row, k)).into(), number(row, force));
    let all = rows.iter().map(|row| {
        let (point, normal, force) = read(row);
        Contact { bodies: names.map(|k| row[k].as_str()), point, normal, force }
    });
    let contacts: Vec<Contact> = all.filter(|c| c.force > 0.0).collect();
    let bodies = read_bodies(&directory.join("bodies_end.csv"))?;
    // centre, and the radius of a ball
    let bodies: BTreeMap<&str, (DVec3, Option<f64>)> = bodies
        .iter()
        .filter(|b| b.shape != "half-space")
        .map(|b| (b.name.as_str(), (DVec3::from_slice(&b.numbers), (b.shape == "ball").then_some(b.numbers[RADIUS]))))
        .collect();

    // the least distance from points to centres; a ball in a periodic cell may be far from where it touches
    let mut radii: BTreeMap<&str, f64> = BTreeMap::new();
    for (contact, body) in contacts.iter().flat_map(|c| c.bodies.map(|b| (c, b))) {
        if let Some((centre, radius)) = bodies.get(body) {
            let least = radii.entry(body).or_insert(radius.unwrap_or(f64::INFINITY));
            *least = radius.unwrap_or(least.min(centre.distance(contact.point)));
        }
    }
    let mut sorted: Vec<f64> = radii.values().copied().filter(|r| r.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(&usual) = sorted.get(sorted.len() / 4) else {
        return Err(PlotError::Nothing(format!("{}: no contact presses at the end of this run", path.display())));
    };
    let centre = |contact: &Contact, side: usize| -> Option<(DVec3, Option<f64>)> {
        let &(centre, radius) = bodies.get(contact.bodies[side])?;
        let reach = radii.get(contact.bodies[side]).copied()?;
        let sign = [1.0, -1.0][side];
        match (radius.is_some(), reach <= FAR * usual) {
            (true, true) => Some((contact.point + sign * reach * contact.normal, Some(reach))),
            (true, false) => Some((contact.point + sign * usual * contact.normal, Some(usual))),
            (false, true) if centre.distance(contact.point) <= FAR * usual => Some((centre, None)),
            _ => None,
        }
    };

    let chain = |contact: &Contact| {
        let end = |side: usize| centre(contact, side).map(|(end, radius)| (contact.bodies[side].to_owned(), end, radius));
        Chain { point: contact.point, force: contact.force, ends: [0, 1].into_iter().filter_map(end).collect() }
    };
    Ok((path.display().to_string(), None, contacts.iter().map(chain).collect(), usual))
}

/// All contacts where they lie in one layer, otherwise those of a layer of the middle that is as thick as a grain.
fn layer(contacts: &[Chain], axis: usize, usual: f64) -> [f64; 2] {
    let mut places: Vec<f64> = contacts.iter().map(|c| c.point[axis]).filter(|x| x.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (places.first(), places.last()) else { return [0.0, 0.0] };
    let middle = places[places.len() / 2];
    if high - low <= 2.5 * usual { [low, high] } else { [middle - usual, middle + usual] }
}
