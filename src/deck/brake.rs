//! The brake: steps of context size, each of which fires once and re-arms when the context falls below it.

pub(crate) mod said;
pub(crate) mod stop;

/// How urgent a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Checkpoint,
    Soft,
    Hard,
    Stop,
}

/// The steps of one session, lowest first, and which of them have fired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brake {
    steps: Vec<(Step, u64)>,
    fired: usize,
}

impl Brake {
    /// Steps in tokens, lowest first.
    pub(crate) fn new(steps: Vec<(Step, u64)>) -> Self {
        Self { steps, fired: 0 }
    }

    /// The brake as an earlier server left it: so many of its steps, from the lowest, had fired.
    pub(crate) fn restored(steps: Vec<(Step, u64)>, fired: usize) -> Self {
        let fired = fired.min(steps.len());
        Self { steps, fired }
    }

    /// The brake after steps at these lines had fired, as a conversation's hook remembers them.
    pub(crate) fn after(steps: Vec<(Step, u64)>, fired: &[u64]) -> Self {
        let highest = fired.iter().max().copied().unwrap_or(0);
        let fired = steps.iter().filter(|(_, line)| *line <= highest).count();
        Self { steps, fired }
    }

    /// The lines of the steps that have fired and not re-armed, in tokens.
    pub(crate) fn fired_lines(&self) -> Vec<u64> {
        self.lines()[..self.fired].to_vec()
    }

    /// Whether the context has reached the step at which nothing but the note is done.
    pub(crate) fn stops(&self, context_tokens: u64) -> bool {
        self.steps
            .iter()
            .any(|(step, line)| *step == Step::Stop && context_tokens >= *line)
    }

    pub(crate) fn steps(&self) -> &[(Step, u64)] {
        &self.steps
    }

    /// How many steps have fired and not re-armed.
    pub(crate) fn fired(&self) -> usize {
        self.fired
    }

    /// The lines of the steps in tokens, lowest first.
    pub(crate) fn lines(&self) -> Vec<u64> {
        self.steps.iter().map(|(_, tokens)| *tokens).collect()
    }

    /// The step to act on now. A jump over several fires the highest only; falling below a line re-arms it.
    pub(crate) fn pull(&mut self, context_tokens: u64) -> Option<Step> {
        let reached = self
            .steps
            .iter()
            .take_while(|(_, line)| context_tokens >= *line)
            .count();
        let fires = (reached > self.fired).then(|| self.steps[reached - 1].0);
        self.fired = reached;
        fires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_fires_once_a_jump_fires_the_highest_and_a_fall_re_arms() {
        let mut brake = Brake::new(vec![
            (Step::Checkpoint, 250),
            (Step::Soft, 400),
            (Step::Hard, 550),
            (Step::Stop, 650),
        ]);
        for (context, fires) in [
            (100, None),
            (250, Some(Step::Checkpoint)),
            (260, None),
            (600, Some(Step::Hard)),
            (640, None),
            (20, None),
            (260, Some(Step::Checkpoint)),
            (410, Some(Step::Soft)),
            (399, None),
            (401, Some(Step::Soft)),
            (9_000, Some(Step::Stop)),
        ] {
            assert_eq!(brake.pull(context), fires, "at {context}");
        }
        assert_eq!(Brake::default().pull(u64::MAX), None);
    }

    #[test]
    fn a_brake_that_is_restored_asks_for_nothing_it_has_asked_for() {
        let steps = vec![(Step::Checkpoint, 250), (Step::Soft, 400)];
        for (fired, context, fires) in [
            (0, 300, Some(Step::Checkpoint)),
            (1, 300, None),
            (1, 450, Some(Step::Soft)),
            (2, 450, None),
            (9, 450, None),
        ] {
            let mut brake = Brake::restored(steps.clone(), fired);
            assert_eq!(brake.pull(context), fires, "{fired} fired, at {context}");
        }
    }

    #[test]
    fn what_a_hook_remembers_holds_whatever_the_settings_say_now() {
        let steps = vec![
            (Step::Checkpoint, 250),
            (Step::Soft, 400),
            (Step::Stop, 650),
        ];
        for (fired, context, fires, after) in [
            (&[][..], 100, None, &[][..]),
            (&[], 260, Some(Step::Checkpoint), &[250]),
            (&[250], 260, None, &[250]),
            (&[250], 700, Some(Step::Stop), &[250, 400, 650]),
            (&[250, 400, 650], 20, None, &[]),
            // The settings were others then.
            (&[300], 390, None, &[250]),
            (&[900], 700, None, &[250, 400, 650]),
        ] {
            let mut brake = Brake::after(steps.clone(), fired);
            assert_eq!(brake.pull(context), fires, "{fired:?} at {context}");
            assert_eq!(brake.fired_lines(), after);
            assert_eq!(brake.stops(context), context >= 650);
        }
        let only_checkpoints = Brake::new(vec![(Step::Checkpoint, 240)]);
        assert!(!only_checkpoints.stops(u64::MAX));
    }
}
