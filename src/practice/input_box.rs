//! The box at the bottom: text of one or more lines and a cursor.

use unicode_segmentation::UnicodeSegmentation;

/// The cursor is a byte offset on a border of graphemes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InputBox {
    text: String,
    cursor: usize,
}

impl InputBox {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Puts text in front of what is there; the cursor goes to its end.
    pub(super) fn put_back(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.insert(0, '\n');
        }
        self.text.insert_str(0, text);
        self.cursor = text.len();
    }

    /// Empties the box.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    pub(super) fn backspace(&mut self) {
        let start = self.left_of();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn delete(&mut self) {
        let end = self.right_of();
        self.text.replace_range(self.cursor..end, "");
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.left_of();
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.right_of();
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Removes the line up to the cursor; at its start, the break before it.
    pub(super) fn kill_line(&mut self) {
        let start = match self.line_start() {
            start if start == self.cursor => self.left_of(),
            start => start,
        };
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(super) fn kill_to_end(&mut self) {
        let end = self.line_end();
        self.text.replace_range(self.cursor..end, "");
    }

    pub(super) fn kill_word(&mut self) {
        let kept = self.before().trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |at| {
            at + kept[at..].chars().next().map_or(1, char::len_utf8)
        });
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Goes to the line above or below; `false` if there is none.
    pub(super) fn go(&mut self, down: bool) -> bool {
        let start = self.line_start();
        let column = self.text[start..self.cursor].graphemes(true).count();
        let target = if down {
            let end = self.line_end();
            if end == self.text.len() {
                return false;
            }
            end + 1
        } else if start == 0 {
            return false;
        } else {
            self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1)
        };
        let line = self.text[target..].split('\n').next().unwrap_or("");
        let length: usize = line.graphemes(true).take(column).map(str::len).sum();
        self.cursor = target + length;
        true
    }

    fn left_of(&self) -> usize {
        let last = self.before().graphemes(true).next_back();
        self.cursor - last.map_or(0, str::len)
    }

    fn right_of(&self) -> usize {
        let next = self.text[self.cursor..].graphemes(true).next();
        self.cursor + next.map_or(0, str::len)
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..]
            .find('\n')
            .map_or(self.text.len(), |at| self.cursor + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box from text in which `|` is the cursor, and back.
    fn at(marked: &str) -> InputBox {
        InputBox {
            text: marked.replace('|', ""),
            cursor: marked.find('|').unwrap(),
        }
    }

    fn marked(input: &InputBox) -> String {
        format!("{}|{}", input.before(), &input.text[input.cursor..])
    }

    #[test]
    fn editing_keeps_to_lines_and_whole_letters() {
        type Edit = fn(&mut InputBox);
        let up: Edit = |input| {
            input.go(false);
        };
        let down: Edit = |input| {
            input.go(true);
        };
        for (before, edit, after) in [
            ("a|b", (|input| input.insert("x\ny")) as Edit, "ax\ny|b"),
            ("ae\u{301}|", InputBox::backspace, "a|"),
            ("|", InputBox::backspace, "|"),
            ("a|👩‍🚀b", InputBox::delete, "a|b"),
            ("a\nbc|d", InputBox::home, "a\n|bcd"),
            ("a\nb|cd\ne", InputBox::end, "a\nbcd|\ne"),
            ("a\nbc|d", InputBox::kill_line, "a\n|d"),
            ("a\n|d", InputBox::kill_line, "a|d"),
            ("a|bc\nd", InputBox::kill_to_end, "a|\nd"),
            ("one two  |x", InputBox::kill_word, "one |x"),
            ("one|", InputBox::kill_word, "|"),
            ("abc\nd|", up, "a|bc\nd"),
            ("ab|c\nd", down, "abc\nd|"),
            ("a|b", up, "a|b"),
            ("one|", |input| input.put_back("two"), "two|\none"),
            ("|", |input| input.put_back("two"), "two|"),
        ] {
            let mut input = at(before);
            edit(&mut input);
            assert_eq!(marked(&input), after, "{before}");
        }
    }
}
