//! What is tried on an island that sweeps cannot do, the cheapest first.
//!
//! ```text
//! sweeps from nothing      where friction is high: circles hang on where they began; after Newton where that is cheap
//! proximal Newton          where sweeps promise to stall: a pile that sticks
//! proximal point           Newton with the derivative of the shift: where bodies slip
//! less                     where velocities that let every contact part as friction asks are not found: overlaps and rebounds of bodies that are wedged are
//!                          not asked for, and the step is stated anew
//! jam                      contacts that give way, stiffer and stiffer: friction lets bodies go nowhere, then named, or they lead to a solution
//! Newton that wanders      the same as the proximal point, strongly regularised again and again: where that goes round in circles; then once more from nothing
//! lagged law               the slip at hand as a known shift: a convex problem, solved for sure where it has a solution
//! proximal point again     from there: no contact stands at the wrong edge of its cone
//! contradiction            no velocities at all? then the least violation, proved and named
//! the solvers of `global`  small islands
//! less                     small islands: nothing beyond not to approach
//! ```
//!
//! In passes of joints that state nearly the same problem again ([`Workspace::again`]) the dearest two, the solvers of `global` and all sweeps that there are, are left out.
//!
//! Where Coulomb's law was out of reach time and again, islands of this size go straight to the lagged law for a while
//! ([`super::memory`]), piles keep what sweeps have found where that moves nothing: the tries would cost many times what it costs.

use super::super::admissible::AdmissibleSet;
use super::super::feasibility::{Give, Stiffened, contradiction, grows, overworks, runs_away, stiffen};
use super::super::global::{GlobalSolver, auto::GlobalAuto};
use super::super::mixed::{Answer, Contact, MixedProblem, Reactions};
use super::super::residual::{Residual, certify};
use super::super::{Measure, Method, Report, Status, newton, newton::ProximalNewton, sweep, sweep::GaussSeidel};
use super::rest::{at_rest, is_pile};
use super::yielding::MARGIN;
use super::{Auto, CHEAP, Workspace, carried};
use glam::DVec3;

/// Effort of the proximal point in sweeps, and on a pile under its loads; cost of its factorisation over that of Newton, and factorisations
/// it has in any case.
const POINT_SWEEPS: [f64; 2] = [60_000.0, 100_000.0];
const LU_COST: f64 = 2.0;
/// Effort of Newton that wanders in sweeps; factorisations that it has at most, and that it has to have to be tried.
const WANDERING: f64 = 6e5;
const WANDERING_MOST: usize = 1500;
const WANDERING_LEAST: usize = 300;
/// Sweeps with which the proximal point leads a pile out of its circles, in prices of a factorisation.
const SHAKE: f64 = 0.5;
const POINT_LEAST: usize = 24;
/// Sweeps from nothing, in prices of a factorisation, and at least.
const ANEW: f64 = 10.0;
const ANEW_LEAST: f64 = 2000.0;
/// Sweeps without acceleration before the last resort.
pub(super) const PLAIN_SWEEPS: usize = 3000;
/// Times the lagged law is solved with shifts that shrink.
const LAGGED_ROUNDS: usize = 3;
/// Error of its convex problem that will do where the tolerance is out of reach: what it misses of Coulomb's law is far more.
const SETTLED: f64 = 1e-6;
/// Factorisations that a convex problem takes, about.
const LAGGED_COST: f64 = 20.0;
/// How much more than the best answer it may miss Coulomb's law by: it is the solution of a law, the other a solver's leftover.
const LAGGED_PRICE: f64 = 10.0;
/// The same for a pile under its loads, which would be shaken by it: else the best answer stays.
const PILE_PRICE: f64 = 3.0;
/// Error of Coulomb's law with which the lagged law is never taken, and with which it is not where tries pause: others may do better.
const APART: f64 = 0.1;
const CLOSE: f64 = 0.02;
/// Misfit of the lagged law from which bodies may be jammed: those that are driven together miss by more.
const JAMMED: f64 = 1e-3;
/// Misfit from which they are looked at even where tries pause: half of a speed of approach.
const DRIVEN: f64 = 1e-2;
/// Error of Coulomb's law that is admitted in any case, as at a loose tolerance.
const ADMITTED: f64 = 1e-3;
/// Misfit of Coulomb's law that moves nothing: a tenth of what is admitted at a tolerance of 1e-3.
const HARMLESS: f64 = 1e-4;
/// Iterations that a solver of [`super::super::global`] may take.
const LIBRARY_ITERATIONS: usize = 2000;
/// Largest number of rows that is handed to the solvers of [`super::super::global`].
const GLOBAL_ROWS: usize = 450;
/// Rows up to which they take all of their rounds: beyond, the paths of the later ones cost seconds, and hardly ever find an answer.
const PATIENT_ROWS: usize = 150;
/// Parts of the tolerance that those are asked for, one after the other.
const LIBRARY: [f64; 3] = [0.1, 1e-3, 1e-6];
/// How much more than before reactions may carry in the answer of a try: beyond that bodies are wedged in each other by large friction without
/// any load, and the least overlap that is pushed out does work against it (0.2 J in one step of a pour of 1 J, μ = 1.8).
pub(super) const WEDGED: f64 = 1e3;
/// Part of the largest of reactions that grow for ever from which on others grow with it.
const RUNAWAY: f64 = 1e-2;
/// Error that is rounding: more effort would not make it smaller.
const ROUNDING: f64 = 1e-13;
/// Error, in tolerances, from which a convex problem is solved from nothing rather than from the guess.
const FAR: f64 = 20.0;
/// Factorisations that it may have from the guess: half of those from nothing.
const FEW: usize = 10;

/// The tries on one island; `best` is the report on what `answer` holds, with the effort of all so far.
pub(super) struct Tries<'a> {
    auto: &'a Auto,
    p: &'a mut MixedProblem,
    answer: &'a mut Answer,
    work: &'a mut Workspace,
    best: Report,
    /// some of it is known to slip
    moves: bool,
    solvable: Option<bool>,
    /// where that is not so: reactions that grow against each other
    ray: Reactions,
    /// the contacts that are to ask for less
    less: Vec<bool>,
    /// what [`contradiction`] has found
    slack: Option<Option<Vec<f64>>>,
    /// an answer with bounded reactions
    soft: Option<Answer>,
    /// [`stiffen`] has been tried
    stiffened: bool,
}

impl<'a> Tries<'a> {
    /// On an answer with this report; `moves` where some of it is known to slip.
    pub(super) fn new(
        auto: &'a Auto,
        p: &'a mut MixedProblem,
        answer: &'a mut Answer,
        work: &'a mut Workspace,
        best: Report,
        moves: bool,
    ) -> Self {
        Self {
            auto,
            p,
            answer,
            work,
            best,
            moves,
            solvable: None,
            ray: Reactions::default(),
            less: Vec::new(),
            slack: None,
            soft: None,
            stiffened: false,
        }
    }

    /// Until one of them ends it; where its reactions have run away against what drives bodies, a jam or a miss: a solution in which they do a billion joules
    /// of work against each other is none.
    pub(super) fn run(mut self) -> Report {
        let report = self.end();
        if !report.converged() {
            return report;
        }
        if !overworks(self.p, self.answer) || self.has_a_solution() {
            return report;
        }
        if self.jammed(f64::INFINITY) {
            return self.best;
        }
        match self.soft.take() {
            Some(soft) => {
                self.answer.reactions = soft.reactions;
                certify(self.p, self.answer).report(Report { status: Status::Stalled, ended_by: Method::LastResort, ..self.best })
            }
            None => report,
        }
    }

    fn end(&mut self) -> Report {
        if !self.p.lagged.is_empty() {
            return self.known_shifts();
        }
        if !self.p.spins.is_empty() {
            return self.moments();
        }
        if self.p.contacts.is_empty() && is_convex(self.p) {
            return self.joints();
        }
        let rows = self.rows();
        // what a lagged answer misses opens gaps, which the next step closes: a pile would be shaken by it for ever
        let pile = is_pile(self.p, self.answer, &mut self.work.rows);
        let pauses = self.work.memory.pauses(rows);
        if pauses && pile && self.best.error() <= HARMLESS {
            return self.best;
        }
        let pauses = pauses && !pile;
        let mut lagged = if pauses { self.lagged().filter(|known| self.admits(known, CLOSE)) } else { None };
        let tried = lagged.is_none();
        if tried {
            if self.is_dear() && self.anew() || self.exact() || !self.is_dear() && !self.wedged() && self.anew() {
                self.work.memory.succeeded(rows);
                return self.best;
            }
            if self.wedged() {
                return self.asking_for_less();
            }
            lagged = self.lagged();
            if let Some((start, _)) = &lagged
                && self.point(Some(start))
            {
                self.work.memory.succeeded(rows);
                return self.best;
            }
            lagged = lagged.filter(|known| self.admits(known, APART));
        }
        let misfit = lagged.as_ref().map_or(f64::INFINITY, |(_, found)| found.misfit);
        let looked_at = misfit > if tried { 0.0 } else { DRIVEN };
        let solved = looked_at && (self.no_solution(misfit) || self.library());
        if !solved && tried && self.is_small() {
            return self.asking_for_less();
        }
        if solved || looked_at && self.jammed(misfit) {
            self.work.memory.succeeded(rows);
            return self.best;
        }
        if tried {
            self.work.memory.failed(rows);
        }
        let far = |(_, found): &(Answer, Residual)| found.error() > PILE_PRICE * self.best.error();
        if pile && self.best.error() <= ADMITTED && lagged.as_ref().is_some_and(far) {
            return self.best;
        }
        let Some((own, found)) = lagged else { return self.last_resort() };
        self.answer.clone_from(&own);
        let (status, ended_by) = match self.auto.status(&found) {
            Status::Converged => (Status::Converged, Method::Convex),
            _ => (Status::Lagged, Method::Lagged),
        };
        found.report(Report { status, ended_by, ..self.best })
    }

    /// Those alone that end at Coulomb's law.
    pub(super) fn brief(mut self) -> Report {
        if !self.exact() {
            self.anew();
        }
        self.best
    }

    /// Newton with the shift of each iterate, for what has none, and for a pile that sticks, which it solves far beyond the tolerance; then Newton with the
    /// derivative of the shift.
    fn exact(&mut self) -> bool {
        let newton = self.auto.newton();
        (is_convex(self.p) || !self.moves && at_rest(self.p, self.answer, &mut self.work.rows))
            && self.attempt(Method::Newton, |p, answer, work| Some(newton.solve(p, answer, &mut work.newton)))
            || self.best.error() <= ROUNDING
            || self.point(None)
            || !self.wedged() && (self.no_solution(f64::INFINITY) || self.jammed(f64::INFINITY) || self.wander(false) || self.wander(true))
    }

    /// From `start`, or the answer at hand.
    fn point(&mut self, start: Option<&Answer>) -> bool {
        let price = LU_COST * self.work.newton_cost(self.p) * self.work.light;
        let pile = is_pile(self.p, self.answer, &mut self.work.rows);
        let max_iterations =
            ((POINT_SWEEPS[usize::from(pile)] / price) as usize).clamp(POINT_LEAST, 10 * self.auto.max_newton.max(POINT_LEAST));
        let shake = if pile { SHAKE * price } else { 0.0 };
        let point = newton::ProximalPoint { tolerance: self.auto.tolerance, max_iterations, price, shake };
        self.attempt(Method::Point, |p, answer, work| {
            if let Some(start) = start {
                answer.reactions.clone_from(&start.reactions);
            }
            Some(point.solve(p, answer, &mut work.newton, &mut work.sweep))
        })
    }

    /// From the answer at hand, or from nothing: the circles of one beginning are not those of another.
    fn wander(&mut self, anew: bool) -> bool {
        let price = LU_COST * self.work.newton_cost(self.p) * self.work.light;
        let most = ((WANDERING / price) as usize).min(WANDERING_MOST);
        let wandering = newton::Wandering { tolerance: self.auto.tolerance, max_iterations: most };
        most >= WANDERING_LEAST
            && self.attempt(Method::Wandering, |p, answer, work| {
                if anew {
                    *answer = Answer::for_problem(p);
                }
                Some(wandering.solve(p, answer, &mut work.newton))
            })
    }

    /// Whether factorisations cost so much that sweeps from nothing come before them.
    fn is_dear(&self) -> bool {
        self.work.newton_cost(self.p) > CHEAP
    }

    /// Sweeps from no reactions, both settings of their acceleration in turn: where friction is high, contacts go round in circles that another beginning
    /// does not meet.
    fn anew(&mut self) -> bool {
        if !sweep::is_rough(self.p) {
            return false;
        }
        let most = (ANEW * self.work.newton_cost(self.p) * self.work.light).max(ANEW_LEAST) as usize;
        let max_sweeps = self.auto.max_sweeps.min(most);
        let sweeps = GaussSeidel { turns: true, follow: false, foresight: 0, ..self.auto.sweeps(self.p, max_sweeps, self.work) };
        self.attempt(Method::Anew, |p, answer, work| {
            *answer = Answer::for_problem(p);
            Some(sweeps.solve(p, answer, &mut work.sweep))
        })
    }

    fn plain(&mut self) -> bool {
        let sweeps = self.auto.sweeps(self.p, self.auto.max_sweeps.min(PLAIN_SWEEPS), self.work);
        let plain = GaussSeidel { accelerate: false, foresight: PLAIN_SWEEPS, ..sweeps };
        self.attempt(Method::PlainSweeps, |p, answer, work| Some(plain.solve(p, answer, &mut work.sweep)))
    }

    /// Contacts that resist rolling, as blocks of five or six rows for Newton; sweeps crawl to the end where it circles.
    fn moments(&mut self) -> Report {
        let sweeps = self.auto.sweeps(self.p, self.auto.max_sweeps.min(PLAIN_SWEEPS), self.work);
        let patient = GaussSeidel { foresight: PLAIN_SWEEPS, ..sweeps };
        let swept = self.exact() || self.attempt(Method::Sweeps, |p, answer, work| Some(patient.solve(p, answer, &mut work.sweep)));
        if swept || self.plain() {
            return self.best;
        }
        if self.wedged() {
            return self.asking_for_less();
        }
        let misfit = self.best.misfit;
        if self.no_solution(misfit) {
            return self.best;
        }
        if self.is_small() {
            return self.asking_for_less();
        }
        self.last_resort()
    }

    /// A scene whose shifts are known: one convex problem.
    fn known_shifts(&mut self) -> Report {
        let auto = *self.auto;
        let solved = self.attempt(Method::Convex, |p, answer, work| known(&auto, p, answer, work));
        let ended = solved || self.best.error() <= ROUNDING || self.plain();
        if !ended && self.wedged() {
            return self.asking_for_less();
        }
        if ended || self.no_solution(f64::INFINITY) || self.jammed(f64::INFINITY) {
            return self.best;
        }
        self.last_resort()
    }

    /// Joints and motors alone: what Newton leaves of a convex problem, as where rows to spare contradict each other in their last digits, no sweeps take away.
    fn joints(&mut self) -> Report {
        let newton = self.auto.newton();
        let solved = self.attempt(Method::Newton, |p, answer, work| Some(newton.solve(p, answer, &mut work.newton)));
        let ended = solved || self.best.error() <= ROUNDING || self.point(None) || self.plain();
        if !(ended || self.no_solution(f64::INFINITY) || self.library()) {
            self.jammed(f64::INFINITY);
        }
        self.best
    }

    /// The lagged law with the slip at hand as the known shift. Where that lets bodies approach, as they slip less than was taken, it is
    /// solved again with less. `None` where the convex problem is not solved.
    fn lagged(&mut self) -> Option<(Answer, Residual)> {
        let slip = |p: &MixedProblem, answer: &Answer, k: usize| {
            let c = &p.contacts[k];
            c.shift(p.contact_velocity(c, &answer.velocities.rigid))
        };
        let mut shifts: Vec<f64> = (0..self.p.contacts.len()).map(|k| slip(self.p, self.answer, k)).collect();
        let mut own = self.answer.clone();
        let mut found: Option<(Answer, Residual)> = None;
        let foresight = (LAGGED_COST * self.work.newton_cost(self.p) * self.work.light) as usize;
        let sweeps = GaussSeidel { foresight, ..self.auto.sweeps(self.p, self.auto.max_sweeps, self.work) };
        for _ in 0..LAGGED_ROUNDS {
            if self.p.stop.asked() {
                break;
            }
            std::mem::swap(&mut self.p.lagged, &mut shifts);
            let mut convex = sweeps.solve(self.p, &mut own, &mut self.work.sweep);
            if !convex.converged()
                && let Some(known) = known(self.auto, self.p, &mut own, self.work)
            {
                convex = known.after(&convex);
            }
            std::mem::swap(&mut self.p.lagged, &mut shifts);
            self.best = self.best.with_effort(&convex.after(&self.best));
            if !convex.converged() && convex.error() > SETTLED {
                break;
            }
            let missed = certify(self.p, &mut own);
            if found.as_ref().is_some_and(|(_, before)| missed.error() >= before.error()) {
                break;
            }
            let enough = missed.misfit <= HARMLESS.max(self.auto.tolerance);
            found = Some((own.clone(), missed));
            if enough {
                break;
            }
            shifts.iter_mut().enumerate().for_each(|(k, s)| *s = s.min(slip(self.p, &own, k)));
        }
        self.p.lagged.clear();
        found
    }

    /// Whether it misses Coulomb's law by not much more than the answer does, and by no more than `most`.
    fn admits(&self, (_, missed): &(Answer, Residual), most: f64) -> bool {
        missed.error() <= (LAGGED_PRICE * self.best.error()).clamp(ADMITTED, most)
    }

    /// True where some velocities let every contact part as fast as friction asks, `u_n ≥ μ‖u_t‖`: then Coulomb's law has a solution
    /// (Acary, Cadoux, Lemaréchal, Malick 2011). Those of the convex problem without any shift, where that has a solution.
    fn has_a_solution(&mut self) -> bool {
        if let Some(known) = self.solvable {
            return known;
        }
        let mut shifts = vec![0.0; self.p.contacts.len()];
        std::mem::swap(&mut self.p.lagged, &mut shifts);
        let spins = std::mem::take(&mut self.p.spins);
        let mut answer = Answer::for_problem(self.p);
        let found = newton::feasible(self.p, &mut answer, &mut self.work.newton, self.auto.tolerance);
        self.p.spins = spins;
        self.p.lagged = if shifts.iter().any(|&s| s > 0.0) { shifts } else { Vec::new() };
        if let Some(found) = &found {
            self.best = self.best.with_effort(&found.after(&self.best));
        }
        let solvable = found.is_some_and(|found| found.converged());
        self.ray = Answer::for_problem(self.p).reactions;
        if !solvable {
            self.ray.contacts = answer.reactions.contacts;
        }
        *self.solvable.insert(solvable)
    }

    /// Whether overlaps that are fed back, or rebounds, may ask for more than friction lets bodies do: a ball in a groove whose half angle is less than
    /// that of friction can be pushed out of its overlaps by no reactions, though nothing stands in its way. Methods that go on where the
    /// proximal point has ended would look for a solution that hardly ever exists.
    fn wedged(&mut self) -> bool {
        let asks = self.asks() && !self.has_a_solution();
        self.less = if asks { grown(&self.ray.contacts) } else { Vec::new() };
        self.could_ask_for_less(&self.less) && self.contradicts().is_none()
    }

    /// Whether more is asked than not to approach.
    fn asks(&self) -> bool {
        self.p.spare.iter().any(|&part| part < 0.0) && !self.p.gives_way() && !self.p.stop.asked()
    }

    /// Whether one of these contacts asks for more than that.
    fn could_ask_for_less(&self, grown: &[bool]) -> bool {
        grown.iter().zip(&self.p.spare).any(|(&grown, &part)| grown && part < 0.0)
    }

    /// Whether all that is asked beyond that may go, as nothing else has helped and bodies are few: what misses by a hair has no ray.
    fn is_small(&mut self) -> bool {
        let small = self.rows() <= PATIENT_ROWS && self.asks() && (self.has_a_solution() || self.contradicts().is_none());
        if small {
            self.less = self.p.spare.iter().map(|&part| part < 0.0).collect();
        }
        small
    }

    /// By how much each contact has to give way where the bodies could not keep out of each other without friction either.
    fn contradicts(&mut self) -> Option<&Vec<f64>> {
        let Self { p, answer, work, auto, slack, .. } = self;
        slack.get_or_insert_with(|| contradiction(p, answer, auto.tolerance, &mut work.newton)).as_ref()
    }

    /// The best answer, and the contacts that are to ask for less.
    fn asking_for_less(&mut self) -> Report {
        let less = std::mem::take(&mut self.less);
        ask_for_less(self.answer, less);
        self.best
    }

    /// Whether no velocities at all keep the bodies out of each other; then the answer of least violation. A misfit that moves nothing
    /// needs no proof.
    fn no_solution(&mut self, misfit: f64) -> bool {
        if misfit <= HARMLESS || self.p.gives_way() || self.p.stop.asked() || self.has_a_solution() {
            return false;
        }
        let Some(slack) = self.contradicts().cloned() else { return false };
        // friction asks for more room
        match self.can_follow().then(|| self.follow()) {
            Some(Stiffened { give: Some(give), soft, .. }) => self.relax(Method::Contradiction, give, Some(&soft)),
            _ => self.relax(Method::Contradiction, Give { contacts: slack, ..Give::default() }, None),
        }
    }

    /// Whether reactions grow for ever from the answer at hand. With joints the next pass states another problem, which may have a solution.
    fn growing(&mut self) -> Option<Stiffened> {
        if !self.p.lagged.is_empty() || !self.p.blocks.is_empty() {
            return None;
        }
        let found = grows(self.p, &self.answer.reactions, self.auto.tolerance, &mut self.work.newton);
        self.best.factorisations += found.factorisations;
        found.give.is_some().then_some(found)
    }

    /// Moments know no lagged friction.
    fn can_follow(&self) -> bool {
        self.p.spins.is_empty() || self.p.lagged.is_empty()
    }

    /// Where rows that give way less and less lead to.
    fn follow(&mut self) -> Stiffened {
        let stiff = stiffen(self.p, &self.ray, self.auto.tolerance, &mut self.work.newton);
        self.best.factorisations += stiff.factorisations;
        stiff
    }

    /// Whether friction jams bodies that are driven together; then the answer in which they give way. Where contacts of any stiffness carry them, Coulomb's
    /// law has a solution nearby.
    fn jammed(&mut self, misfit: f64) -> bool {
        if misfit <= JAMMED
            || self.stiffened
            || !self.can_follow()
            || self.p.gives_way()
            || self.p.stop.asked()
            || self.has_a_solution() && self.p.spins.is_empty()
        {
            return false;
        }
        self.stiffened = true;
        let stiff = self.growing().unwrap_or_else(|| self.follow());
        if let Some(give) = stiff.give {
            if !self.p.spins.is_empty() && self.asks() && self.asks_what_gives_way(&give) {
                return true;
            }
            // there are other solutions beside a jam now and then; those with reactions beyond all bounds are none
            let other = self.rows() <= PATIENT_ROWS && self.p.lagged.is_empty() && self.library() && !overworks(self.p, self.answer);
            return other || self.relax(Method::Jam, give, Some(&stiff.soft));
        }
        self.soft = Some(stiff.soft);
        stiff.end.is_some_and(|end| self.point(Some(&end)))
    }

    /// Asks for less where moments wedge bodies, which [`wedged`](Self::wedged) does not know: of what gives way to more than next to nothing.
    fn asks_what_gives_way(&mut self, give: &Give) -> bool {
        let carried = |(c, give): (&Contact, &f64)| DVec3::X * (give / c.local.mean_diagonal());
        let grown = grown(&self.p.contacts.iter().zip(&give.contacts).map(carried).collect::<Vec<_>>());
        let asks = self.could_ask_for_less(&grown);
        if asks {
            ask_for_less(self.answer, grown);
        }
        asks
    }

    /// The answer of least violation: every constraint gives way by its slack and a little more, so that reactions stay bounded.
    /// Where that cannot be solved either, nor to [`SETTLED`], `soft`.
    fn relax(&mut self, method: Method, give: Give, soft: Option<&Answer>) -> bool {
        let mut own = Answer::for_problem(self.p).reactions;
        let mut near: Option<(f64, Reactions)> = None;
        for margin in MARGIN {
            let Some((reactions, report)) = self.auto.giving_way(self.p, (&give, margin), None, self.work) else { break };
            self.best = self.best.with_effort(&report.after(&self.best));
            if report.converged() {
                (own, near) = (reactions, None);
                break;
            }
            if report.error() <= near.as_ref().map_or(SETTLED, |(error, _)| *error) {
                near = Some((report.error(), reactions.clone()));
            }
            own = soft.map_or(reactions, |soft| soft.reactions.clone());
        }
        if let Some((_, reactions)) = near {
            own = reactions;
        }
        self.answer.reactions = own;
        self.answer.slack = give.contacts;
        self.answer.yields = give.blocks;
        self.answer.yields.resize(self.p.block_b.len(), 0.0);
        self.best = certify(self.p, self.answer).report(Report { status: Status::Inconsistent, ended_by: method, ..self.best });
        true
    }

    /// The strategy for problems from files, on problems that are small enough, from zero: the point at hand is where the others got
    /// stuck.
    fn library(&mut self) -> bool {
        if self.rows() > GLOBAL_ROWS || !self.p.spins.is_empty() || self.p.stop.asked() || self.work.again {
            return false;
        }
        let g = self.p.matrices().problem();
        let split = 3 * self.p.contacts.len();
        let (mut r, mut v, mut u) = (vec![0.0; self.rows()], vec![0.0; g.f.len()], vec![0.0; g.w.len()]);
        let auto = *self.auto;
        let max_rounds = if self.rows() > PATIENT_ROWS { 1 } else { GlobalAuto::default().max_rounds };
        for share in LIBRARY {
            // its error does not know the scales of the contacts
            let solver = GlobalAuto { tolerance: share * auto.tolerance, measure: Measure::Es, max_rounds, ..GlobalAuto::default() };
            let mut went_on = false;
            let solved = self.attempt(Method::Library, |p, answer, _| {
                let own = solver
                    .solve_watched(&g, [&mut r, &mut v, &mut u], &mut |look| look.iteration < LIBRARY_ITERATIONS && !p.stop.asked())
                    .ok()?;
                went_on = own.converged();
                answer.reactions.contacts.iter_mut().zip(r[..split].chunks_exact(3)).for_each(|(a, r)| *a = DVec3::from_slice(r));
                answer.reactions.blocks.copy_from_slice(&r[split..]);
                let found = certify(p, answer);
                Some(found.report(Report { status: auto.status(&found), ..own }))
            });
            if solved || !went_on {
                return solved;
            }
        }
        false
    }

    /// All sweeps that the budget allows; where reactions run away, those of contacts that give way.
    fn last_resort(&mut self) -> Report {
        if self.work.again {
            return self.best;
        }
        let sweeps = GaussSeidel {
            foresight: self.auto.max_sweeps,
            follow: false,
            turns: true,
            ..self.auto.sweeps(self.p, self.auto.max_sweeps, self.work)
        };
        if self.attempt(Method::LastResort, |p, answer, work| Some(sweeps.solve(p, answer, &mut work.sweep))) {
            return self.best;
        }
        if let Some(soft) = self.soft.as_ref().filter(|_| runs_away(self.p, self.answer)) {
            self.answer.reactions.clone_from(&soft.reactions);
        }
        certify(self.p, self.answer).report(self.best)
    }

    /// Keeps what `solve` makes of the answer where it is better; true where it meets the tolerance.
    fn attempt(&mut self, method: Method, solve: impl FnOnce(&MixedProblem, &mut Answer, &mut Workspace) -> Option<Report>) -> bool {
        if self.p.stop.asked() {
            return false;
        }
        let before = self.answer.reactions.clone();
        let report = solve(self.p, self.answer, self.work);
        if let Some(report) = report {
            let wedged =
                sweep::is_rough(self.p) && carried(self.p, &self.answer.reactions) > WEDGED * carried(self.p, &before).max(self.p.q_scaled);
            let better = !wedged && (report.converged() || report.error() < self.best.error());
            let report = Report { ended_by: method, ..report.after(&self.best) };
            self.best = if better { report } else { self.best.with_effort(&report) };
            if better {
                return report.converged();
            }
        }
        self.answer.reactions = before;
        certify(self.p, self.answer);
        false
    }

    fn rows(&self) -> usize {
        3 * self.p.contacts.len() + self.p.block_b.len()
    }
}

/// What has grown against each other is no guess, nor is what joints bear of it: it is a solution at any size where nothing is asked, and would stay.
pub(super) fn ask_for_less(answer: &mut Answer, less: Vec<bool>) {
    let reactions = &mut answer.reactions;
    for rows in [&mut reactions.contacts, &mut reactions.spins] {
        rows.iter_mut().zip(&less).filter(|(_, less)| **less).for_each(|(r, _)| *r = DVec3::ZERO);
    }
    reactions.blocks.fill(0.0);
    answer.wedged = less;
}

/// The contacts that take part in reactions which grow for ever.
pub(super) fn grown(reactions: &[DVec3]) -> Vec<bool> {
    let largest = reactions.iter().map(|r| r.length()).fold(0.0, f64::max);
    reactions.iter().map(|r| r.length() > RUNAWAY * largest).collect()
}

/// Whether no law has a shift: joints, motors, contacts without friction.
fn is_convex(p: &MixedProblem) -> bool {
    use AdmissibleSet::{Free, Interval, NonNegative, SecondOrder};
    p.contacts.iter().all(|c| c.mu == 0.0)
        && p.blocks.iter().all(|b| matches!(b.set, Free | NonNegative | Interval { .. } | SecondOrder { .. }))
}

/// The convex problem of the known shifts in `p.lagged`: from the guess where that is near, else from nothing.
fn known(auto: &Auto, p: &MixedProblem, answer: &mut Answer, work: &mut Workspace) -> Option<Report> {
    let mut near = Report::default();
    if certify(p, answer).error() <= FAR * auto.tolerance {
        near = ProximalNewton { max_iterations: FEW.min(auto.max_newton), ..auto.newton() }.solve(p, answer, &mut work.newton);
        if near.converged() {
            return Some(near);
        }
    }
    Some(newton::convex(p, answer, &mut work.newton, auto.tolerance)?.after(&near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::mixed::{Contact, IMMOBILE, RigidMass, Twist};
    use glam::{DMat3, DVec3};

    /// Balls on top of each other, under gravity.
    fn column(balls: u32) -> MixedProblem {
        let mut p = MixedProblem::default();
        for k in 0..balls {
            p.rigid.push(RigidMass { inverse_mass: DVec3::ONE, inverse_inertia: RigidMass::pack(DMat3::IDENTITY * 10.0) });
            p.free.rigid.push(Twist { linear: DVec3::NEG_Z, angular: DVec3::ZERO });
            let [arm1, arm2] = [-0.5, 0.5].map(|z| DVec3::Z * z);
            let body2 = k.checked_sub(1).unwrap_or(IMMOBILE);
            p.push_group([Contact { normal: DVec3::Z, tangent: DVec3::X, arm1, arm2, mu: 0.5, body1: k, body2, ..Contact::default() }]);
            p.close_colour();
        }
        p.prepare().expect("legal");
        p
    }

    #[test]
    fn a_pile_on_which_tries_fail_time_and_again_keeps_what_sweeps_have_found_where_that_moves_nothing() {
        let auto = Auto { tolerance: 1e-10, ..Auto::default() };
        // how far sweeps come, whether tries have failed before, whether they are left out now
        for (sweeps, failed, left_out) in [(800, true, true), (800, false, false), (5, true, false)] {
            let mut p = column(20);
            let (mut answer, mut work) = (Answer::for_problem(&p), Workspace::default());
            let some = GaussSeidel { tolerance: auto.tolerance, max_sweeps: sweeps, accelerate: false, ..GaussSeidel::default() };
            let best = some.solve(&p, &mut answer, &mut work.sweep);
            assert!(!best.converged() && (best.error() <= HARMLESS) == (sweeps > 5), "{best:?}");
            let rows = 3 * p.contacts.len();
            (0..7).filter(|_| failed).for_each(|_| work.memory.failed(rows));
            let report = Tries::new(&auto, &mut p, &mut answer, &mut work, best, false).run();
            assert_eq!((report.converged(), report == best), (!left_out, left_out), "{sweeps}, {failed}: {report:?}");
        }
    }
}
