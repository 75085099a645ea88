//! Start a session from plain words, with what they come to shown while they are typed.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::super::look::{self, style};
use super::super::text;
use super::field::Field;
use super::planner::Planner;
use super::{Drafts, LABEL, Modal, Scene, Wish, command, frame, labelled, single, wrapped, write};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::{Plan, Request, Response};
use crate::terminal::Size;

#[derive(Debug)]
pub(in super::super) struct NewSession {
    words: Field,
    /// None leaves the choice to the words.
    profile: Option<String>,
    planner: Planner,
    size: Size,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Typing,
    Starting,
    Failed(String),
}

impl NewSession {
    /// For that directory, with what was typed last time; `size` is the program's.
    pub(in super::super) fn new(draft: &str, dir: PathBuf, size: Size, scene: Scene<'_>) -> Self {
        Self {
            words: Field::lines(draft).hint("what should it do?", scene.theme),
            profile: None,
            planner: Planner::new(dir),
            size,
            stage: Stage::Typing,
        }
    }

    fn plan_lines(&self, width: usize, scene: Scene<'_>) -> Vec<Line<'static>> {
        let theme = scene.theme;
        let failed = match &self.stage {
            Stage::Failed(why) => Some(why.as_str()),
            Stage::Typing | Stage::Starting => self.planner.failed(),
        };
        let mut lines = Vec::new();
        if let Some(why) = failed {
            lines.extend(wrapped(why, width, 5, style(theme.alert)));
        }
        let Some(plan) = self.planner.plan() else {
            return lines;
        };
        let beside = width.saturating_sub(LABEL);
        lines.extend(labelled("profile", [self.profile_line(plan, scene)], theme));
        if let Some((name, words)) = &plan.runner_up {
            let next = format!("{name}, because of {}", words.join(", "));
            lines.extend(labelled(
                "or",
                [single(&next, beside, style(theme.dim))],
                theme,
            ));
        }
        if let Some(obstacle) = &plan.obstacle {
            let why = wrapped(obstacle, beside, 4, style(theme.alert));
            lines.extend(labelled("✗", why, theme));
        }
        for warning in &plan.warnings {
            let what = wrapped(warning, beside, 3, style(theme.warn));
            lines.extend(labelled("!", what, theme));
        }
        let agent = [
            Some(plan.agent.as_str()),
            plan.model.as_deref(),
            plan.effort.as_deref(),
        ];
        let agent: Vec<&str> = agent.into_iter().flatten().collect();
        let agent = single(&agent.join(" · "), beside, style(theme.text));
        lines.extend(labelled("agent", [agent], theme));
        let dir = single(&plan.dir.display().to_string(), beside, style(theme.text));
        lines.extend(labelled("in", [dir], theme));
        let runs = wrapped(&command(&plan.argv), beside, 8, style(theme.dim));
        lines.extend(labelled("runs", runs, theme));
        lines
    }

    fn profile_line(&self, plan: &Plan, scene: Scene<'_>) -> Line<'static> {
        let theme = scene.theme;
        let name = plan.profile.as_deref().unwrap_or("none");
        let name = Span::styled(
            text::clean(name).into_owned(),
            look::tag(theme, plan.color.as_deref()),
        );
        let why = if self.profile.is_some() {
            "chosen by you".to_owned()
        } else if plan.matched.is_empty() {
            "nothing matched".to_owned()
        } else {
            format!("because of {}", plan.matched.join(", "))
        };
        Line::from(vec![
            name,
            Span::styled(format!("  {}", text::clean(&why)), style(theme.dim)),
        ])
    }
}

impl Modal for NewSession {
    fn press(&mut self, key: Chord, _scene: Scene<'_>) -> Wish {
        if key.key() == Code::Esc {
            return Wish::Close;
        }
        if matches!(self.stage, Stage::Starting) {
            return Wish::Stay;
        }
        self.stage = Stage::Typing;
        if key.key() == Code::Tab {
            self.profile = self.planner.next_profile(self.profile.as_deref());
        } else if key.key() != Code::Enter {
            self.words.press(key);
        } else if key.mods().shift || key.mods().alt {
            self.words.newline();
        } else {
            self.stage = Stage::Starting;
            let text = self.words.text();
            let mut order = self.planner.order(&text, self.profile.as_deref());
            order.size = Some(self.size);
            return Wish::Await(Box::new(Request::Launch(order)));
        }
        Wish::Stay
    }

    fn paste(&mut self, text: &str) {
        self.words.insert(text);
    }

    fn question(&mut self) -> Option<Request> {
        let order = self
            .planner
            .order(&self.words.text(), self.profile.as_deref());
        self.planner.question(order)
    }

    fn answered(&mut self, response: Response) {
        self.planner.answered(response);
    }

    fn done(&mut self, response: &Response) -> Wish {
        match response {
            Response::Failed(failure) => {
                self.stage = Stage::Failed(failure.text.clone());
                Wish::Stay
            }
            Response::Session(session) => {
                self.words = Field::lines("");
                Wish::Look(session.id)
            }
            Response::Done
            | Response::Status(_)
            | Response::Sessions(_)
            | Response::Plan(_)
            | Response::Parked { .. }
            | Response::Screen { .. } => Wish::Close,
        }
    }

    fn lost(&mut self) {
        self.planner.lost();
        if matches!(self.stage, Stage::Starting) {
            self.stage = Stage::Failed("the server went away; look whether it started".into());
        }
    }

    fn save(&self, drafts: &mut Drafts) {
        drafts.new = self.words.text();
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let title = match self.stage {
            Stage::Starting => "New session: starting …",
            Stage::Typing | Stage::Failed(_) => "New session",
        };
        let keys = [
            ("enter", "start"),
            ("tab", "profile"),
            ("esc", "close, words kept"),
            ("shift-enter", "new line"),
        ];
        let inner = frame(area, (86, 20), title, &keys, buf, scene.theme);
        let field = Rect {
            height: (inner.height / 3).max(2).min(inner.height),
            ..inner
        };
        let cursor = self.words.draw(field, buf, scene.theme);
        let below = Rect {
            y: field.bottom() + 1,
            height: inner.height.saturating_sub(field.height + 1),
            ..inner
        };
        let lines = self.plan_lines(usize::from(below.width), scene);
        write(below, lines, buf);
        cursor
    }
}
