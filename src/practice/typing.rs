//! What keys mean: to the box, to the running turn, or to the permission question.

use super::input_box::InputBox;
use super::keys::{Code, Input, Key, Reply};

/// What the person is looking at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    Idle,
    Working,
    Question,
}

/// What a key asked for beyond editing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Submit(String),
    Interrupt,
    Answer(bool),
    /// Lines up (negative) or down.
    Scroll(i32),
    Quit,
    Reply(Reply),
}

/// The box and what was half asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Typing {
    pub(super) input: InputBox,
    /// The line of the permission question that Enter takes: yes or no.
    pub(super) choice_is_no: bool,
    /// Ctrl-c came once; the next one leaves.
    pub(super) leaving: bool,
}

/// Lines that a page key scrolls.
const PAGE: i32 = 10;

impl Typing {
    pub(super) fn take(&mut self, input: Input, scene: Scene) -> Option<Wish> {
        match input {
            Input::Reply(reply) => Some(Wish::Reply(reply)),
            Input::Wheel(lines) => Some(Wish::Scroll(lines)),
            Input::Paste(text) => {
                self.leaving = false;
                if scene != Scene::Question {
                    self.input.insert(&without_controls(&text));
                }
                None
            }
            Input::Key(key) => {
                let leaving = std::mem::take(&mut self.leaving);
                match (key.code, key.ctrl) {
                    (Code::PageUp, _) => Some(Wish::Scroll(-PAGE)),
                    (Code::PageDown, _) => Some(Wish::Scroll(PAGE)),
                    (Code::Char('c'), true) => self.ctrl_c(scene, leaving),
                    _ if scene == Scene::Question => self.answer(key),
                    (Code::Char('d'), true) if self.input.is_empty() => self.ctrl_c(scene, leaving),
                    (Code::Esc, _) if scene == Scene::Working => Some(Wish::Interrupt),
                    _ => self.edit(key),
                }
            }
        }
    }

    /// Clears, interrupts, or leaves: the nearest first.
    fn ctrl_c(&mut self, scene: Scene, leaving: bool) -> Option<Wish> {
        if leaving {
            return Some(Wish::Quit);
        }
        self.leaving = true;
        if !self.input.is_empty() {
            self.input.take();
            return None;
        }
        match scene {
            Scene::Idle => None,
            Scene::Working => Some(Wish::Interrupt),
            Scene::Question => Some(Wish::Answer(false)),
        }
    }

    fn answer(&mut self, key: Key) -> Option<Wish> {
        match key.code {
            Code::Char('1' | 'y') => Some(Wish::Answer(true)),
            Code::Char('2' | 'n') | Code::Esc => Some(Wish::Answer(false)),
            Code::Enter => Some(Wish::Answer(!std::mem::take(&mut self.choice_is_no))),
            Code::Up | Code::Down | Code::Tab => {
                self.choice_is_no = !self.choice_is_no;
                None
            }
            Code::Char(_)
            | Code::Backspace
            | Code::Delete
            | Code::Left
            | Code::Right
            | Code::Home
            | Code::End
            | Code::PageUp
            | Code::PageDown => None,
        }
    }

    fn edit(&mut self, key: Key) -> Option<Wish> {
        let input = &mut self.input;
        match (key.code, key.ctrl) {
            (Code::Enter, _) if key.shift || key.alt => input.insert("\n"),
            (Code::Char('j'), true) => input.insert("\n"),
            (Code::Enter, _) if input.before().ends_with('\\') => {
                input.backspace();
                input.insert("\n");
            }
            (Code::Enter, _) => {
                if input.text().trim().is_empty() {
                    input.take();
                    return None;
                }
                return Some(Wish::Submit(input.take().trim().to_owned()));
            }
            (Code::Char('u'), true) => input.kill_line(),
            (Code::Char('k'), true) => input.kill_to_end(),
            (Code::Char('w'), true) => input.kill_word(),
            (Code::Char('a'), true) | (Code::Home, _) => input.home(),
            (Code::Char('e'), true) | (Code::End, _) => input.end(),
            (Code::Char('b'), true) | (Code::Left, _) => input.left(),
            (Code::Char('f'), true) | (Code::Right, _) => input.right(),
            (Code::Backspace, _) if key.alt => input.kill_word(),
            (Code::Backspace, _) => input.backspace(),
            (Code::Delete, _) | (Code::Char('d'), true) => input.delete(),
            (Code::Up, _) => {
                input.go(false);
            }
            (Code::Down, _) => {
                input.go(true);
            }
            (Code::Char(letter), false) if !key.alt => {
                input.insert(letter.encode_utf8(&mut [0; 4]));
            }
            (Code::Char(_) | Code::Tab | Code::Esc | Code::PageUp | Code::PageDown, _) => {}
        }
        None
    }
}

/// A pasted text keeps its line breaks; other control characters do no good in a box.
fn without_controls(text: &str) -> String {
    text.replace('\t', "    ")
        .chars()
        .filter(|letter| *letter == '\n' || !letter.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::practice::keys::Decoder;

    /// Types bytes; the wishes that came of them, and what stands in the box.
    fn typed(scene: Scene, bytes: &[u8]) -> (Vec<Wish>, String) {
        let mut typing = Typing::default();
        let mut decoder = Decoder::default();
        let mut inputs = decoder.feed(bytes);
        inputs.extend(decoder.flush());
        let wishes = inputs
            .into_iter()
            .filter_map(|input| typing.take(input, scene))
            .collect();
        (wishes, typing.input.text().to_owned())
    }

    #[test]
    fn keys_edit_send_interrupt_and_leave() {
        use Scene::{Idle, Question, Working};
        let submit = |text: &str| vec![Wish::Submit(text.into())];
        for (scene, bytes, wishes, left) in [
            (Idle, &b"hi\r"[..], submit("hi"), ""),
            (Idle, b" \r", vec![], ""),
            (Idle, b"a\nb\r", submit("a\nb"), ""),
            (Idle, b"a\x1b\rb", vec![], "a\nb"),
            (Idle, b"a\x1b[13;2ub", vec![], "a\nb"),
            (Idle, b"a\\\rb", vec![], "a\nb"),
            (Idle, b"\x1b[200~x\r\n\x07y\x1b[201~", vec![], "x\ny"),
            (Idle, b"abc\x15", vec![], ""),
            (Idle, b"abc\x03", vec![], ""),
            (Idle, b"abc\x03\x03", vec![Wish::Quit], ""),
            (Idle, b"\x03x\x03", vec![], ""),
            (Idle, b"\x04\x04", vec![Wish::Quit], ""),
            (Idle, b"x\x1b", vec![], "x"),
            (Working, b"\x1b", vec![Wish::Interrupt], ""),
            (Working, b"\x03\x03", vec![Wish::Interrupt, Wish::Quit], ""),
            (Working, b"next\r", submit("next"), ""),
            (Question, b"1", vec![Wish::Answer(true)], ""),
            (Question, b"2", vec![Wish::Answer(false)], ""),
            (Question, b"x\r", vec![Wish::Answer(true)], ""),
            (Question, b"\x1b[B\r", vec![Wish::Answer(false)], ""),
            (Question, b"\x1b", vec![Wish::Answer(false)], ""),
        ] {
            assert_eq!(typed(scene, bytes), (wishes, left.to_owned()), "{bytes:?}");
        }
    }
}
