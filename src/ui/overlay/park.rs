//! Park a side thought in the inbox. What was typed is kept until it is written.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::super::look::{self, style};
use super::super::text;
use super::field::Field;
use super::planner::Planner;
use super::{Drafts, Modal, Scene, Wish, frame, labelled, wrapped, write};
use crate::config::keys::{Chord, Key as Code};
use crate::protocol::client::{Request, Response};

#[derive(Debug)]
pub(in super::super) struct Park {
    thought: Field,
    /// None leaves the choice to the words.
    profile: Option<String>,
    planner: Planner,
    dir: PathBuf,
    session: Option<u64>,
    stage: Stage,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Typing,
    Writing,
    Failed(String),
}

impl Park {
    /// Into the inbox of that session's repo, or of the one that `dir` lies in.
    pub(in super::super) fn new(
        draft: &str,
        dir: PathBuf,
        session: Option<u64>,
        scene: Scene<'_>,
    ) -> Self {
        Self {
            thought: Field::lines(draft).hint("what, and where", scene.theme),
            profile: None,
            planner: Planner::new(dir.clone()),
            dir,
            session,
            stage: Stage::Typing,
        }
    }

    /// The profile of the line: chosen, or guessed from words that matched.
    fn tag(&self) -> Option<&str> {
        self.profile.as_deref().or_else(|| {
            let plan = self.planner.plan()?;
            let guessed = !plan.matched.is_empty() && !self.thought.is_empty();
            plan.profile.as_deref().filter(|_| guessed)
        })
    }

    fn tag_line(&self, scene: Scene<'_>) -> Line<'static> {
        let theme = scene.theme;
        let dim = style(theme.dim);
        let Some(tag) = self.tag() else {
            return Line::styled("none", dim);
        };
        let plan = self.planner.plan();
        let color = plan
            .filter(|plan| plan.profile.as_deref() == Some(tag))
            .and_then(|plan| plan.color.as_deref());
        let why = match plan {
            Some(plan) if self.profile.is_none() => {
                format!("  because of {}", plan.matched.join(", "))
            }
            Some(_) | None => "  chosen by you".to_owned(),
        };
        Line::from(vec![
            Span::styled(format!("#{}", text::clean(tag)), look::tag(theme, color)),
            Span::styled(text::clean(&why).into_owned(), dim),
        ])
    }
}

impl Modal for Park {
    fn press(&mut self, key: Chord, _scene: Scene<'_>) -> Wish {
        if key.key() == Code::Esc {
            return Wish::Close;
        }
        if self.stage == Stage::Writing {
            return Wish::Stay;
        }
        self.stage = Stage::Typing;
        if key.key() == Code::Tab {
            self.profile = self.planner.next_profile(self.profile.as_deref());
        } else if key.key() != Code::Enter {
            self.thought.press(key);
        } else if key.mods().shift || key.mods().alt {
            self.thought.newline();
        } else if !self.thought.is_empty() {
            self.stage = Stage::Writing;
            return Wish::Await(Box::new(Request::Park {
                dir: self.dir.clone(),
                text: self.thought.text(),
                profile: self.tag().map(str::to_owned),
                session: self.session,
            }));
        }
        Wish::Stay
    }

    fn paste(&mut self, text: &str) {
        self.thought.insert(text);
    }

    fn question(&mut self) -> Option<Request> {
        let order = self
            .planner
            .order(&self.thought.text(), self.profile.as_deref());
        order.task.is_some().then_some(())?;
        self.planner.question(order)
    }

    fn answered(&mut self, response: Response) {
        self.planner.answered(response);
    }

    fn done(&mut self, response: &Response) -> Wish {
        if let Response::Failed(failure) = response {
            self.stage = Stage::Failed(failure.text.clone());
            return Wish::Stay;
        }
        self.thought = Field::lines("");
        Wish::Close
    }

    fn lost(&mut self) {
        self.planner.lost();
        if self.stage == Stage::Writing {
            self.stage = Stage::Failed("the server went away; look whether it was written".into());
        }
    }

    fn save(&self, drafts: &mut Drafts) {
        drafts.park = self.thought.text();
    }

    fn draw(&self, area: Rect, buf: &mut Buffer, scene: Scene<'_>) -> Option<Position> {
        let title = match self.stage {
            Stage::Writing => "Park a side thought: writing …",
            Stage::Typing | Stage::Failed(_) => "Park a side thought",
        };
        let keys = [
            ("enter", "park"),
            ("tab", "profile"),
            ("esc", "close, words kept"),
            ("shift-enter", "new line"),
        ];
        let inner = frame(area, (76, 11), title, &keys, buf, scene.theme);
        let field = Rect {
            height: inner.height.saturating_sub(3).clamp(1, 5).min(inner.height),
            ..inner
        };
        let cursor = self.thought.draw(field, buf, scene.theme);
        let below = Rect {
            y: field.bottom() + 1,
            height: inner.height.saturating_sub(field.height + 1),
            ..inner
        };
        let mut lines = labelled("profile", [self.tag_line(scene)], scene.theme);
        if let Stage::Failed(why) = &self.stage {
            let width = usize::from(below.width);
            lines.extend(wrapped(why, width, 3, style(scene.theme.alert)));
        }
        write(below, lines, buf);
        cursor
    }
}
