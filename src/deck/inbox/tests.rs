//! What is read, what is written, and what stays.

use super::*;
use proptest::prelude::*;

const INBOX: &str = "\
# Hot todo

- [ ] 2026-12-01 #bugfix the cart is empty, src/cart.rs
  seen twice

  - [ ] look at the log
      deeper
text of somebody
* [x] 2026-11-30 #seo sitemap → #12
+ [ ] no date
1. [ ] not ours
- [-] not ours
- [ ]
```
- [ ] example
```
<!-- - [ ] template
- [ ] template -->
- [X] 2026-11-29 by hand
";

/// Number, row, done, date, profile, text, detail, link.
fn shown(text: &str) -> Vec<String> {
    lines(text)
        .iter()
        .map(|line| {
            format!(
                "{} {} {} {} {} | {} | {} | {}",
                line.n,
                line.row,
                if line.done { "x" } else { "-" },
                line.date.as_deref().unwrap_or("-"),
                line.profile.as_deref().unwrap_or("-"),
                line.text,
                line.detail.replace('\n', "/"),
                line.link.as_deref().unwrap_or("-"),
            )
        })
        .collect()
}

fn hash_of(text: &str, words: &str) -> String {
    let line = lines(text).into_iter().find(|line| line.text == words);
    line.unwrap().hash
}

#[test]
fn task_lines_are_read_and_all_else_is_left() {
    assert_eq!(
        shown(INBOX),
        [
            "1 3 - 2026-12-01 bugfix | the cart is empty, src/cart.rs | seen twice//- [ ] look at the log/    deeper | -",
            "2 9 x 2026-11-30 seo | sitemap |  | #12",
            "3 10 - - - | no date |  | -",
            "4 19 x 2026-11-29 - | by hand |  | -",
        ]
    );
    assert_eq!(open_lines(INBOX).len(), 2);
}

#[test]
fn odd_task_lines() {
    for (text, expect) in [
        ("- [ ] #12 is broken", "1 1 - - - | #12 is broken |  | -"),
        ("- [ ] #bugfix, now", "1 1 - - - | #bugfix, now |  | -"),
        ("- [ ] 2026-12-1 x", "1 1 - - - | 2026-12-1 x |  | -"),
        ("- [ ] a → b", "1 1 - - - | a → b |  | -"),
        ("- [x] a → b → c", "1 1 x - - | a → b |  | c"),
        ("- [ ] a\r\n\tb\r\n", "1 1 - - - | a |   b | -"),
        ("-   [ ]   a  ", "1 1 - - - | a |  | -"),
        (
            "group\n  - [ ] a\n  - [ ] b",
            "1 2 - - - | a |  | -\n2 3 - - - | b |  | -",
        ),
        (
            "- [ ] a\n - [ ] b",
            "1 1 - - - | a |  | -\n2 2 - - - | b |  | -",
        ),
        ("-[ ] a", ""),
        ("- [ ]a", ""),
        ("- [ ] 2026-12-01 #bugfix", ""),
        ("- [ ", ""),
        ("- [é] a", ""),
    ] {
        assert_eq!(shown(text).join("\n"), expect, "{text}");
    }
}

#[test]
fn a_parked_text_becomes_one_line_with_detail() {
    for (profile, text, expect) in [
        (Some("bugfix"), "a", "- [ ] 2026-12-01 #bugfix a\n"),
        (None, "  a  ", "- [ ] 2026-12-01 a\n"),
        (
            Some("my set"),
            "a\n\n  b\nc\n\n",
            "- [ ] 2026-12-01 #myset a\n\n    b\n  c\n",
        ),
        (None, "a\r\nb\rc", "- [ ] 2026-12-01 a\n  b\n  c\n"),
        (
            None,
            "a\x1b[31m\u{202e}\tb\x07",
            "- [ ] 2026-12-01 a[31m    b\n",
        ),
        (None, "", ""),
        (Some("x"), " \n\t\x1b\n", ""),
    ] {
        assert_eq!(line("2026-12-01", profile, text), expect, "{text:?}");
    }
}

#[test]
fn closing_dropping_and_editing_touch_one_line() {
    let dos = INBOX.replace('\n', "\r\n");
    for inbox in [INBOX, &dos] {
        let end = if inbox == INBOX { "\n" } else { "\r\n" };
        let hash = hash_of(inbox, "the cart is empty, src/cart.rs");
        let closed = close(inbox, &hash, "abc\n123").unwrap();
        let expect = inbox
            .replace("- [ ] 2026-12-01", "- [x] 2026-12-01")
            .replace("cart.rs", "cart.rs → abc 123");
        assert_eq!(closed, expect);
        assert_eq!(hash_of(&closed, "the cart is empty, src/cart.rs"), hash);
        assert_eq!(close(&closed, &hash, "x"), Err(Refusal::Closed));
        assert_eq!(edit(&closed, &hash, "x"), Err(Refusal::Closed));
        assert_eq!(close(inbox, "no such", "x"), Err(Refusal::Gone));
        assert_eq!(edit(inbox, &hash, " \n"), Err(Refusal::Empty));

        let detail = format!("  seen twice{end}{end}  - [ ] look at the log{end}      deeper{end}");
        let head = format!("- [ ] 2026-12-01 #bugfix the cart is empty, src/cart.rs{end}");
        let left = drop(&closed, &hash).unwrap();
        assert_eq!(left, inbox.replace(&format!("{head}{detail}"), ""));
        let edited = edit(inbox, &hash, "new\n\n  words").unwrap();
        let words = format!("- [ ] 2026-12-01 #bugfix new{end}{end}    words{end}");
        assert_eq!(edited, inbox.replace(&format!("{head}{detail}"), &words));
    }
}

#[test]
fn the_last_line_may_lack_its_end() {
    let inbox = "- [ ] a\n- [ ] b";
    let hash = hash_of(inbox, "b");
    assert_eq!(close(inbox, &hash, "").unwrap(), "- [ ] a\n- [x] b");
    assert_eq!(close(inbox, &hash, "#1").unwrap(), "- [ ] a\n- [x] b → #1");
    assert_eq!(drop(inbox, &hash).unwrap(), "- [ ] a\n");
    assert_eq!(edit(inbox, &hash, "c\nd").unwrap(), "- [ ] a\n- [ ] c\n  d");
    assert_eq!(drop(inbox, &hash_of(inbox, "a")).unwrap(), "- [ ] b");
}

#[test]
fn of_two_equal_lines_the_first_open_one_is_closed() {
    let inbox = "- [ ] a\n- [ ] a\n";
    let hash = hash_of(inbox, "a");
    let once = close(inbox, &hash, "").unwrap();
    assert_eq!(once, "- [x] a\n- [ ] a\n");
    assert_eq!(close(&once, &hash, "").unwrap(), "- [x] a\n- [x] a\n");
}

fn row() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "( |\t){0,3}[-*+] \\[[ xX]\\] (2026-12-01 )?(#[a-z]{1,3} )?[a-z →#é]{0,6}",
        "( |\t){0,6}[a-z]{1,4}",
        Just("```".to_owned()),
        Just("<!-- x".to_owned()),
        Just("# heading".to_owned()),
    ]
}

fn inbox() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec((row(), end), 0..12), any::<bool>()).prop_map(|(rows, ended)| {
        let text: String = rows
            .iter()
            .flat_map(|(row, end)| [row.as_str(), end])
            .collect();
        if ended {
            text
        } else {
            text.trim_end().to_owned()
        }
    })
}

proptest! {
    #[test]
    fn what_is_parked_is_read_back(words in "[^#]\\PC{0,20}(\n[ \\PC]{0,10}){0,3}") {
        let printed = line("2026-12-01", Some("p"), &words);
        let read = lines(&printed);
        if printed.is_empty() {
            prop_assert!(read.is_empty());
        } else {
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(line("2026-12-01", Some("p"), &prompt_of(&read[0])), printed.clone());
            let expect = clean_rows(&words).join("\n");
            prop_assert_eq!(prompt_of(&read[0]), expect);
        }
    }

    #[test]
    fn a_change_leaves_every_other_line_as_it_was(inbox in inbox(), pick in any::<prop::sample::Index>()) {
        let all = lines(&inbox);
        let open = open_lines(&inbox);
        if open.is_empty() {
            return Ok(());
        }
        let chosen = &open[pick.index(open.len())];
        let closed = lines(&close(&inbox, &chosen.hash, "l").unwrap());
        prop_assert_eq!(closed.len(), all.len());
        let changed: Vec<_> = closed.iter().zip(&all).filter(|(a, b)| a != b).collect();
        prop_assert_eq!(changed.len(), 1);
        let (now, then) = changed[0];
        prop_assert_eq!(now, &Line { done: true, link: Some("l".into()), ..then.clone() });

        let edited = edit(&inbox, &chosen.hash, "new\nwords").unwrap();
        let edited = lines(&edited);
        prop_assert_eq!(edited.len(), all.len());
        prop_assert_eq!(edited.iter().filter(|line| line.detail == "words").count(), 1);

        let mut left = items(&inbox);
        left.retain(|item| item.line.hash == chosen.hash);
        let bytes = inbox.len() - left[0].whole.len();
        prop_assert_eq!(drop(&inbox, &chosen.hash).unwrap().len(), bytes);
    }
}
