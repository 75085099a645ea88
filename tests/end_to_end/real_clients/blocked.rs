//! A prompt that belongs elsewhere is blocked, and each answer of the modal does what it says.

use super::stage::{Client, MODAL, OFF_TOPIC, ON_TOPIC, Stage, texts_of_user};
use super::with_both;
use crate::patience::wait_until;
use crate::terminal::Terminal;

with_both!(
    an_off_topic_prompt_is_opened_as_its_own_session,
    an_off_topic_prompt_is_parked,
    an_off_topic_prompt_is_sent_anyway_once,
    a_long_paste_is_sent_anyway_as_it_was,
    an_off_topic_prompt_is_cancelled_and_forced,
    a_park_sign_costs_no_turn,
    what_is_typed_on_after_a_park_stays,
    a_parked_prompt_is_the_models_where_that_is_set,
    a_conversation_is_told_where_side_ideas_go,
    outside_the_deck_the_message_says_what_to_type,
);

/// Types what does not belong here, and is asked.
fn blocked(stage: &Stage) -> Terminal {
    let terminal = stage.waiting();
    stage.client.say(&terminal, "", OFF_TOPIC);
    let screen = terminal.wait_for_text(MODAL);
    assert!(screen.contains("readme, tutorial"), "{screen}");
    assert_eq!(stage.times_sent(OFF_TOPIC), 0);
    terminal
}

/// More rows than a client shows of a paste, with all that could be lost on the way.
fn long() -> String {
    format!("{OFF_TOPIC}\nline two\n  line three\n\n\"five\" $HOME `six` \\\n漢字\nthe end 🦀")
}

fn paste_blocked(client: &Client, terminal: &Terminal, prompt: &str) {
    terminal.paste(prompt);
    terminal.wait_for("the paste in the box", |screen| {
        screen.contains(client.pasted) || screen.contains("the end 🦀")
    });
    terminal.keys("enter");
    terminal.wait_for_text(MODAL);
}

fn an_off_topic_prompt_is_opened_as_its_own_session(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    let prompt = long();
    paste_blocked(client, &terminal, &prompt);
    assert_eq!(stage.times_sent(&prompt), 0);
    terminal.keys("o");
    stage.wait_for_prompt(&prompt);
    let session = stage.wait_for_state(2, "your_turn");
    assert_eq!(session["profile"], "docs");
    assert_eq!(session["agent"], client.name);
    assert!(stage.screen_of(1).contains(client.blocked));
    stage.wait_for_empty_box_of(1);
    stage.sent_once(&prompt);
}

fn an_off_topic_prompt_is_parked(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("p");
    let line = wait_until("the line", || {
        let inbox = stage.home.read("repo/hot-todo.md");
        inbox
            .lines()
            .find(|line| line.contains(OFF_TOPIC))
            .map(str::to_owned)
    });
    assert!(line.starts_with("- [ ] 20"), "{line}");
    assert!(line.ends_with(&format!(" #docs {OFF_TOPIC}")), "{line}");
    terminal.wait_for_text(client.blocked);
    client.wait_for_box(&terminal, "");
    client.say(&terminal, "", "reproduce it once more please");
    terminal.wait_for_text("You said: reproduce it once more please");
    assert_eq!(stage.times_sent(OFF_TOPIC), 0);
}

fn an_off_topic_prompt_is_sent_anyway_once(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("s");
    terminal.wait_for_text(&format!("You said: {OFF_TOPIC}"));
    stage.wait_for_state(1, "your_turn");
    client.wait_for_box(&terminal, "");
    stage.sent_once(OFF_TOPIC);

    client.say(&terminal, "", OFF_TOPIC);
    terminal.wait_for_text(MODAL);
    stage.sent_once(OFF_TOPIC);
}

fn a_long_paste_is_sent_anyway_as_it_was(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    let prompt = long();
    paste_blocked(client, &terminal, &prompt);
    terminal.keys("s");
    let asked = wait_until("the prompt", || {
        let asked = stage.requests().pop()?;
        texts_of_user(&asked)
            .iter()
            .any(|text| text.contains(OFF_TOPIC))
            .then_some(asked)
    });
    let texts = texts_of_user(&asked).join("\n");
    assert_eq!(texts.matches(&prompt).count(), 1, "{texts}");
    assert_eq!(texts.matches("the end 🦀").count(), 1, "{texts}");
    stage.wait_for_state(1, "your_turn");
    client.wait_for_box(&terminal, "");
}

fn an_off_topic_prompt_is_cancelled_and_forced(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = blocked(&stage);
    terminal.keys("esc");
    terminal.wait_for("no modal", |screen| !screen.contains(MODAL));
    terminal.wait_for_text(client.blocked);
    let forced = format!("{OFF_TOPIC} !!");
    if client.puts_back {
        client.wait_for_box(&terminal, OFF_TOPIC);
        client.say(&terminal, OFF_TOPIC, " !!");
    } else {
        client.wait_for_box(&terminal, "");
        client.say(&terminal, "", &forced);
    }
    terminal.wait_for_text(&format!("You said: {forced}"));
    stage.sent_once(&forced);
}

fn a_park_sign_costs_no_turn(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    client.say(&terminal, "", ">> the start is slow, see cli/main");
    terminal.wait_for_text("parked: - [ ] 20");
    let inbox = stage.home.read("repo/hot-todo.md");
    assert!(
        inbox.ends_with(" the start is slow, see cli/main\n"),
        "{inbox}"
    );
    terminal.wait_for_text(client.blocked);
    client.wait_for_box(&terminal, "");
    assert!(
        !stage
            .home
            .read("provider/requests.jsonl")
            .contains("start is slow")
    );
}

fn what_is_typed_on_after_a_park_stays(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.waiting();
    client.say(&terminal, "", ">> the start is slow, see cli/main");
    // At once, as nobody waits for a hook who does not know of one.
    for letter in "and now the other thing".chars() {
        terminal.send(letter.to_string());
    }
    terminal.wait_for_text(client.blocked);
    client.wait_for_box(&terminal, "and now the other thing");
}

fn a_parked_prompt_is_the_models_where_that_is_set(client: &'static Client) {
    let stage = Stage::echo(client);
    stage
        .home
        .write("deck/config/config.toml", "park = \"model\"\n");
    let terminal = stage.waiting();
    let thought = ">> the basket rounds wrong, see src/money.rs";
    client.say(&terminal, "", thought);
    let request = stage.wait_for_prompt(thought);
    let body = request["body"].to_string();
    let inbox = stage.home.path("repo/hot-todo.md");
    for words in [
        "a side thought of the person's",
        &format!("Append it to {}", inbox.display()),
        "the basket rounds wrong, see src/money.rs",
        "return to the task",
    ] {
        assert!(body.contains(words), "{words} in {body}");
    }
    stage.wait_for_state(1, "your_turn");
    assert!(!inbox.exists());
}

fn a_conversation_is_told_where_side_ideas_go(client: &'static Client) {
    const RULE: &str = "keeps side ideas in an inbox";
    let told = |stage: &Stage| {
        let request = stage.wait_for_prompt(ON_TOPIC);
        request["body"].to_string().matches(RULE).count()
    };
    let stage = Stage::echo(client);
    let _without = stage.waiting();
    assert_eq!(told(&stage), 0);

    let stage = Stage::echo(client);
    stage.home.write("repo/hot-todo.md", "# Later\n");
    let _with = stage.waiting();
    assert_eq!(told(&stage), 1);
}

fn outside_the_deck_the_message_says_what_to_type(client: &'static Client) {
    let stage = Stage::echo(client);
    let terminal = stage.home.terminal(&["run", ON_TOPIC], 160, 50);
    terminal.wait_for_text(&format!("You said: {ON_TOPIC}"));
    let in_box = |text: &'static str| {
        terminal.wait_for(text, |screen| {
            let rows = screen.text();
            client.in_box(rows.lines()) == Some(text)
        });
    };
    in_box("");
    let say = |before: &str, prompt: &str| {
        for (at, letter) in prompt.char_indices() {
            terminal.send(letter.to_string());
            let so_far = format!("{before}{}", &prompt[..at + letter.len_utf8()]);
            terminal.wait_for(&so_far, |screen| {
                let rows = screen.text();
                client.in_box(rows.lines()) == Some(so_far.trim_end())
            });
        }
        terminal.keys("enter");
    };
    say("", OFF_TOPIC);
    for words in [
        "matched: readme, tutorial",
        "sessdeck new --profile docs --model",
        "put !! at its end",
        "put >> in front",
    ] {
        terminal.wait_for_text(words);
    }
    let forced = format!("{OFF_TOPIC} !!");
    if client.puts_back {
        in_box(OFF_TOPIC);
        say(OFF_TOPIC, " !!");
    } else {
        in_box("");
        say("", &forced);
    }
    terminal.wait_for_text(&format!("You said: {forced}"));
    in_box("");
    say("", ">> the start is slow, see cli/main");
    terminal.wait_for_text("parked in the inbox");
    if client.puts_back {
        terminal.wait_for_text("ctrl+u");
    }
    assert!(stage.home.read("repo/hot-todo.md").contains("see cli/main"));
    assert!(
        !stage.home.path("deck/run").exists(),
        "a server was started"
    );
}
