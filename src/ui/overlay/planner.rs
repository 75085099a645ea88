//! Asks the server what an order would come to, while it is being typed: one question under way at a time.

use std::path::PathBuf;

use crate::protocol::client::{Order, Plan, Request, Response};

#[derive(Debug, Default)]
pub(super) struct Planner {
    dir: PathBuf,
    /// The order of the question that is under way or was answered last.
    asked: Option<Order>,
    under_way: bool,
    plan: Option<Plan>,
    failed: Option<String>,
}

impl Planner {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            ..Self::default()
        }
    }

    /// The order for that text, and that profile if one was chosen.
    pub(super) fn order(&self, text: &str, profile: Option<&str>) -> Order {
        Order {
            task: (!text.trim().is_empty()).then(|| text.to_owned()),
            profile: profile.map(str::to_owned),
            dir: self.dir.clone(),
            ..Order::default()
        }
    }

    /// The question, unless one is under way or this one was the last.
    pub(super) fn question(&mut self, order: Order) -> Option<Request> {
        if self.under_way || self.asked.as_ref() == Some(&order) {
            return None;
        }
        self.under_way = true;
        self.asked = Some(order.clone());
        Some(Request::Plan(order))
    }

    pub(super) fn answered(&mut self, response: Response) {
        self.under_way = false;
        match response {
            Response::Plan(plan) => {
                self.plan = Some(*plan);
                self.failed = None;
            }
            Response::Failed(failure) => self.failed = Some(failure.text),
            Response::Done
            | Response::Status(_)
            | Response::Sessions(_)
            | Response::Session(_)
            | Response::Parked { .. }
            | Response::Screen { .. } => {}
        }
    }

    /// Nothing that was asked will be answered; ask again.
    pub(super) fn lost(&mut self) {
        self.under_way = false;
        self.asked = None;
    }

    /// The last plan; it may be of an order that is a few letters old.
    pub(super) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Why there is no plan for the last order.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// The profile after `chosen` in the round of: none chosen, then each of them.
    pub(super) fn next_profile(&self, chosen: Option<&str>) -> Option<String> {
        let profiles = self.plan.as_ref().map(|plan| plan.profiles.as_slice())?;
        let next = match chosen {
            None => 0,
            Some(chosen) => profiles.iter().position(|name| name == chosen)? + 1,
        };
        profiles.get(next).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_is_under_way_and_none_is_asked_twice() {
        let mut planner = Planner::new("/repo".into());
        let ask = |planner: &mut Planner, text: &str| {
            let order = planner.order(text, None);
            planner.question(order).is_some()
        };
        let answer = || Response::Plan(Box::default());
        assert!(ask(&mut planner, "f"));
        assert!(!ask(&mut planner, "fi"));
        planner.answered(answer());
        assert!(ask(&mut planner, "fix"));
        planner.answered(answer());
        assert!(!ask(&mut planner, "fix"));
        planner.lost();
        assert!(ask(&mut planner, "fix"));
    }

    #[test]
    fn the_profiles_go_round() {
        let mut planner = Planner::new("/repo".into());
        assert_eq!(planner.next_profile(None), None);
        planner.answered(Response::Plan(Box::new(Plan {
            profiles: vec!["plan".into(), "bugfix".into()],
            ..Plan::default()
        })));
        for (chosen, next) in [
            (None, Some("plan")),
            (Some("plan"), Some("bugfix")),
            (Some("bugfix"), None),
            (Some("gone"), None),
        ] {
            assert_eq!(planner.next_profile(chosen).as_deref(), next, "{chosen:?}");
        }
    }
}
