// Shows what the checker finds in the data of this page. Texts of the journal are only ever set as
// text, never as markup.
"use strict";
{
  const LANGUAGES = { es: "español", ca: "català", eu: "euskara", gl: "galego", en: "English" };
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  const ENVELOPE = new Set(
    "type site table game decree boot seq time mono_ns session round simulated".split(" "),
  );
  // the end of an element must not be in a script
  const DATA_LINE = `^<script type="text/plain" class="[a-z]+">[A-Za-z0-9+/=]*<${"/"}script>$`;
  const BY_HAND = `grep -avE '${DATA_LINE}' FILE.html | sha256sum`;
  const TEXTS = json("texts");
  const LAWS = json("laws");
  const page = /** @type {HTMLElement} */ (document.getElementById("page"));
  /** @type {any} */
  let header = null;
  /** @type {any} */
  let verdict = null;
  /** @type {any} */
  let overview = null;
  let damage = "";
  let unable = false;
  let progress = { done: 0, total: 0 };
  const preferred = navigator.languages.map((each) => each.slice(0, 2));
  let language = preferred.find((each) => each in TEXTS) ?? "en";
  const waiting = new Map();
  /** @type {Worker | null} */
  let worker = null;

  function json(id) {
    return JSON.parse(document.getElementById(id)?.textContent ?? "null");
  }

  // Texts

  function fill(words, fields) {
    return words.replace(/\{(\w+)\}/g, (_whole, name) => String(fields[name] ?? ""));
  }

  function text(key, fields = {}) {
    return fill(TEXTS[language][key] ?? key, fields);
  }

  function word(group, name) {
    return TEXTS[language][`${group}.${name}`] ?? String(name).replaceAll("_", " ");
  }

  function count(number) {
    return new Intl.NumberFormat(language).format(number);
  }

  function card(code) {
    return typeof code === "string" && /^[2-9TJQKA][cdhs]$/.test(code)
      ? `${code[0] === "T" ? "10" : code[0]}${SUITS[code[1]]}`
      : String(code);
  }

  function who(id) {
    const [kind, number] = String(id ?? "").split(":");
    return number ? text(`who.${kind}_numbered`, { number }) : word("who", kind);
  }

  /** Return an outcome in a few words. */
  function outcome(found) {
    if (found === null || typeof found !== "object") return "";
    if (found.family === "craps") return `${found.dice?.join(" + ")} = ${found.total}`;
    if ("number" in found) return String(found.number);
    if (found.winner === "refait") return word("mark", "refait");
    if (found.winner) return who(found.winner);
    return (Array.isArray(found.hands) ? found.hands : [])
      .filter((hand) => hand?.outcome)
      .map((hand) => `${who(hand.who)} ${word("outcome", hand.outcome)}`)
      .join(", ");
  }

  function person(event) {
    const name = event.by ?? event.confirmed_by ?? event.acknowledged_by;
    if (typeof name !== "string") return "";
    return event.role ? `${name} (${word("role", event.role)})` : name;
  }

  /** Return what an event reports, in words. */
  function title(event) {
    switch (event.type) {
      case "irregularity":
        return word("irregularity", event.what);
      case "alert.raised":
        return word("alert", event.what);
      case "round.void":
        return text("note.void", { reason: word("void_reason", event.reason) });
      case "round.unresolved":
        return text("note.unresolved", { why: word("unresolved", event.why) });
      default: {
        const fields = { ...event, result: outcome(event.outcome) };
        if ("card" in fields) fields.card = card(fields.card);
        for (const name of ["who", "to"]) if (name in fields) fields[name] = who(fields[name]);
        const groups = { duty: "role", state: "link", work: "work", decision: "decision" };
        for (const [name, group] of Object.entries(groups)) {
          if (name in fields) fields[name] = word(group, fields[name]);
        }
        const words = TEXTS[language][`event.${event.type}`];
        return words === undefined ? String(event.type) : fill(words, fields);
      }
    }
  }

  /** Return where the rules of a game, or the rule of an event, are printed. */
  function article(event) {
    if (event.article) return [event.law, event.article].filter(Boolean).join(", ");
    return LAWS[event.decree]?.games[event.game] ?? "";
  }

  // Elements

  /** Make an element; a child that is text is shown as it is. */
  function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (value !== undefined && value !== false) made.setAttribute(key, String(value));
    }
    made.append(...children.filter((child) => child !== "" && child !== undefined));
    return made;
  }

  /** Set the cards of a text apart by their colour. */
  function coloured(shown, event) {
    const colour = event?.outcome?.colour;
    const zero = event?.outcome && "colour" in event.outcome && colour === null;
    const name = colour === "red" ? " red" : zero ? " green" : "";
    return make("span", { class: `outcome${name}` }, shown);
  }

  // The verdict

  /** Return the verdict on everything, as `novamas audit` gives it. */
  function conclusion() {
    const statements = [header.audit, header.witness].filter(Boolean);
    const against = statements.filter((each) => each.outcome === "does_not_hold");
    if (damage || verdict?.problems.length || against.length) return "does_not_hold";
    if (unable) return "could_not_be_judged";
    const uncovered = verdict.given && verdict.covered.entries < verdict.counts.entries;
    const lacking =
      !header.audit ||
      statements.some((each) => each.outcome !== "holds") ||
      header.left_out?.length ||
      verdict.counts.entries === 0 ||
      !verdict.canSign ||
      uncovered;
    return lacking ? "could_not_be_judged" : "holds";
  }

  function spelled(problem) {
    const fields = { ...problem.fields };
    if (fields.kind) fields.kind = text(`kind.${fields.kind}`);
    return placed(text(problem.key, { position: problem.position, ...fields }), problem.position);
  }

  /** Add the round of an entry to what is said of it. */
  function placed(what, position) {
    const place = new Map(verdict?.located).get(position);
    return place?.round ? text("verdict.located", { what, ...place }) : what;
  }

  function reasons(outcomeFound) {
    if (damage) return [text("problem.damaged", { why: damage })];
    if (outcomeFound === "does_not_hold") {
      const found = (verdict?.problems ?? []).map(spelled);
      if (verdict?.more) found.push(text("verdict.more", { count: count(verdict.more) }));
      return [
        ...found,
        ...stated("audit", header.audit?.against),
        ...stated("witness", header.witness?.against),
      ];
    }
    if (outcomeFound === "holds") {
      return [verdict.given ? text("verdict.signed_by_given") : text("verdict.key_not_given")];
    }
    if (unable) return [text("lacking.browser")];
    const lacking = [];
    const uncovered = verdict.counts.entries - verdict.covered.entries;
    if (!verdict.canSign) lacking.push(text("lacking.ed25519"));
    else if (verdict.given && uncovered) {
      lacking.push(text("lacking.uncovered", { count: count(uncovered) }));
    }
    if (verdict.counts.sealed) {
      lacking.push(text("lacking.sealed", { count: count(verdict.counts.sealed) }));
    }
    for (const part of header.left_out ?? []) lacking.push(text("lacking.left_out", { part }));
    if (!header.audit) lacking.push(text("lacking.audit"));
    for (const each of [header.audit, header.witness].filter(Boolean)) {
      if (each.outcome !== "holds") lacking.push(...(each.unjudged ?? []));
    }
    return lacking;
  }

  function stated(kind, against) {
    return (against ?? []).map(({ what, position }) =>
      placed(text(`verdict.${kind}_found`, { what, position: position ?? "–" }), position),
    );
  }

  function banner() {
    if (verdict === null && !damage && !unable) {
      const share = progress.total ? progress.done / progress.total : 0;
      return make(
        "section",
        { class: "verdict", id: "verdict", "data-outcome": "running", role: "status" },
        make("strong", {}, text("verdict.running")),
        make("progress", { value: share, max: 1 }),
        make("p", { class: "soft", id: "done" }, ofTotal()),
      );
    }
    const found = conclusion();
    const counts = verdict?.counts ?? { entries: progress.done };
    const signed = found === "holds" && !verdict.given ? "holds_together" : found;
    return make(
      "section",
      { class: `verdict ${found}`, id: "verdict", "data-outcome": found, role: "status" },
      make("strong", {}, text(`verdict.${signed}`, { entries: count(counts.entries) })),
      make("ul", {}, ...reasons(found).map((each) => make("li", {}, each))),
    );
  }

  function ofTotal() {
    const { done, total } = progress;
    return text("verdict.done", { done: count(done), total: count(total) });
  }

  function check(state, key, fields = {}) {
    return make("li", { class: state }, text(`check.${key}`, fields));
  }

  /** What this browser has checked, one line each. */
  function checks() {
    const { counts, covered, problems, canSign, evidence } = verdict;
    const keys = new Set(problems.map((problem) => problem.key.slice("problem.".length)));
    const any = (...names) => names.some((name) => keys.has(name));
    const chain = any("hash", "follows", "missing", "twice", "genesis", "ends");
    const points = any("seal", "other_key", "cut", "rewritten");
    const people = any("people", "no_people", "signature", "repeated");
    const all = { entries: count(counts.entries) };
    const through = { covered: count(covered.entries), checkpoints: count(covered.checkpoints) };
    const list = [check(chain ? "wrong" : "right", chain ? "chain_broken" : "chain", all)];
    if (!canSign) list.push(check("open", "no_ed25519"));
    else if (points) list.push(check("wrong", "checkpoints_wrong"));
    else {
      const whole = covered.entries === counts.entries;
      list.push(check(whole ? "right" : "open", "checkpoints", { ...all, ...through }));
    }
    if (counts.commands) {
      const told = { signed: count(counts.signed), commands: count(counts.commands) };
      const complete = counts.signed === counts.commands;
      list.push(check(people ? "wrong" : complete ? "right" : "open", "people", told));
    }
    if (evidence.frames) {
      const told = { found: count(evidence.found), frames: count(evidence.frames) };
      list.push(check(evidence.found === evidence.frames ? "right" : "open", "evidence", told));
    }
    if (counts.sealed) list.push(check("open", "sealed", { sealed: count(counts.sealed) }));
    return make("ul", { class: "checks", id: "checks" }, ...list);
  }

  function keyForm() {
    const input = make("input", {
      type: "text",
      id: "key",
      maxlength: 64,
      spellcheck: "false",
      autocomplete: "off",
      value: verdict.given,
    });
    const use = () => {
      const key = /** @type {HTMLInputElement} */ (input).value.trim().toLowerCase();
      if (key === "" || /^[0-9a-f]{64}$/.test(key)) worker?.postMessage({ kind: "trust", key });
      else note.textContent = text("key.wrong");
    };
    const note = make("p", { class: "soft", role: "status" });
    input.addEventListener("change", use);
    return make(
      "div",
      { class: "trust" },
      make("label", { for: "key" }, text("key.ask")),
      input,
      " ",
      make("button", { type: "button", id: "use-key", click: use }, text("key.use")),
      note,
    );
  }

  function pair(key, value) {
    return [make("dt", {}, text(`fact.${key}`)), make("dd", {}, value)];
  }

  function facts() {
    const { counts, first, last, keys } = verdict;
    return make(
      "dl",
      {},
      ...pair("site", header.site),
      ...pair("days", `${header.days} (UTC)`),
      ...pair("entries", count(counts.entries)),
      ...pair("first", first),
      ...pair("last", last),
      ...pair("keys", keys.join(", ") || "–"),
      ...pair("journal", header.chains.map((chain) => chain.journal).join(", ")),
      ...pair("made", `${header.made}, ${header.software}`),
    );
  }

  /** What the machine that wrote the page found: its word, which the page cannot check. */
  function statement(kind, found) {
    if (!found) return "";
    const lines = [...(found.against ?? []).map((each) => each.what), ...(found.unjudged ?? [])];
    return make(
      "div",
      { class: "stated", id: kind, "data-outcome": found.outcome },
      make("h2", {}, text(`stated.${kind}`)),
      make("p", {}, text(`stated.${kind}_means`)),
      make("p", {}, make("strong", {}, text(`verdict.short_${found.outcome}`))),
      kind === "audit"
        ? make("p", {}, text("stated.derived", shares(found)))
        : make("p", {}, text("stated.witnessed", { count: count(found.witnessed ?? 0) })),
      make("ul", { lang: "en" }, ...lines.map((line) => make("li", {}, line))),
    );
  }

  function shares(found) {
    const fields = {};
    for (const name of ["proved_readings", "readings", "proved_events", "events"]) {
      fields[name] = count(found[name] ?? 0);
    }
    return fields;
  }

  // The rounds

  function ask(message, done) {
    waiting.set(`${message.kind} ${message.day} ${message.table} ${message.name}`, done);
    worker?.postMessage(message);
  }

  function opening(made, load) {
    made.addEventListener(
      "toggle",
      () => {
        if (/** @type {HTMLDetailsElement} */ (made).open) load();
      },
      { once: true },
    );
    return made;
  }

  function tableOf(day, { table, rounds, notes }) {
    const place = make("div", { class: "place" }, text("round.loading"));
    const head = text("round.table", { table, rounds: count(rounds), notes: count(notes) });
    const made = make("details", { class: "table" }, make("summary", {}, head), place);
    const load = () => {
      const query = { kind: "rounds", day, table, name: undefined };
      ask(query, (found) => place.replaceChildren(...roundsOf(day, table, found.rounds)));
    };
    return opening(made, load);
  }

  function roundsOf(day, table, rounds) {
    const known = rounds.find((round) => round.game);
    const law = known && LAWS[known.decree];
    const printed = known ? article(known) : "";
    const about = known
      ? make("p", {}, [word("game", known.game), law?.title, printed].filter(Boolean).join(" · "))
      : "";
    const head = ["time", "session", "result", "article", "evidence"];
    return [
      about,
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...head.map((key) => make("th", {}, text(`round.${key}`)))),
        ),
        make("tbody", {}, ...rounds.map((round) => roundOf(day, table, round))),
      ),
    ];
  }

  function roundOf(day, table, round) {
    const event = round.decided;
    const shown = event
      ? event.type === "result.corrected" || event.type === "round.result"
        ? outcome(event.outcome)
        : title(event)
      : round.round
        ? "–"
        : text("round.between");
    const corrected = event?.type === "result.corrected" ? ` (${text("round.corrected")})` : "";
    const notes = round.notes.map((note) => make("div", {}, title(note)));
    if (round.flawed) notes.push(make("div", { class: "red" }, `✗ ${text("round.flawed")}`));
    const articles = [event, ...round.notes].filter(Boolean).map((each) => article(each));
    const row = make(
      "tr",
      { class: event ? event.type.split(".")[1] : "" },
      make("td", {}, (event?.time ?? round.time).slice(11, 19)),
      make("td", {}, round.session ? `${round.session} / ${round.round || "–"}` : "–"),
      make("td", {}, coloured(shown, event), corrected, ...notes),
      make("td", {}, [...new Set(articles)].join("; ")),
    );
    const open = () => {
      if (row.nextElementSibling?.classList.contains("open")) {
        row.nextElementSibling.remove();
        return;
      }
      const query = { kind: "entries", day, table, name: round.name };
      ask(query, ({ entries }) => {
        const cell = make("td", { colspan: 5 }, entriesOf(entries));
        row.after(make("tr", { class: "open" }, cell));
      });
    };
    const name = `${text("round.show")} ${round.session}/${round.round}`;
    const button = make("button", { type: "button", "aria-label": name, click: open });
    button.textContent = text("round.show");
    row.append(make("td", {}, button));
    return row;
  }

  function entriesOf(entries) {
    return make("ol", { class: "entries" }, ...entries.map(entryOf));
  }

  function entryOf(entry) {
    let body = null;
    try {
      body = JSON.parse(entry.body);
    } catch {
      // shown as it is
    }
    const head = `${entry.position} · ${text(`kind.${entry.kind}`)} · ${entry.time}`;
    return make(
      "li",
      { class: entry.kind },
      make("div", { class: "head" }, head),
      ...contentOf(entry, body),
      make("div", { class: "head" }, make("code", {}, entry.hash)),
    );
  }

  function contentOf(entry, body) {
    if (body === null || typeof body !== "object") return [make("pre", {}, entry.body)];
    if ("sealed" in body) return [make("div", { class: "title" }, text("round.sealed"))];
    if (entry.kind === "event") return eventOf(body);
    if (entry.kind === "bytes") return bytesOf(body);
    if (entry.kind !== "input") {
      const whole = make("pre", {}, entry.body);
      return [make("details", {}, make("summary", {}, text("round.whole")), whole)];
    }
    const isCommand = typeof body.role === "string" && typeof body.by === "string";
    const named = isCommand ? `${word("command", body.type)}: ${person(body)}` : body.type;
    return [make("div", { class: "title" }, named), ...signersOf(body.signed), fieldsOf(body)];
  }

  function eventOf(event) {
    const by = person(event);
    const parts = [make("div", { class: "title" }, title(event))];
    if (by) parts.push(make("div", {}, text("round.by", { by })));
    parts.push(...signersOf(event.signed_by));
    const printed = article(event);
    if (printed) parts.push(make("div", { class: "soft" }, text("round.printed", { printed })));
    parts.push(fieldsOf(event));
    return parts;
  }

  function signersOf(signers) {
    return (Array.isArray(signers) ? signers : []).map((signer) => {
      const name = `${signer?.name} (${word("role", signer?.role)}), ${signer?.id}`;
      return make("div", {}, text("round.signed", { name }));
    });
  }

  /** The fields of an object, except those of every event and those shown in words. */
  function fieldsOf(body) {
    const shown = Object.entries(body).filter(
      ([name]) => !ENVELOPE.has(name) && !["by", "role", "signed", "signed_by"].includes(name),
    );
    return make(
      "dl",
      {},
      ...shown.flatMap(([name, value]) => [
        make("dt", {}, name),
        make("dd", {}, name === "frames" ? framesOf(value) : make("code", {}, plain(value))),
      ]),
    );
  }

  function plain(value) {
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  function framesOf(frames) {
    const list = Array.isArray(frames) ? frames : [];
    return make("div", {}, ...list.map((frame) => rawOf(`${frame?.device}`, frame?.frame)));
  }

  function bytesOf(body) {
    const calls = Array.isArray(body.calls) ? body.calls : [];
    return calls.map((call) => {
      const [name, at, data] = Array.isArray(call) ? call : [];
      return typeof data === "string"
        ? rawOf(`${body.device} ${at} s`, data)
        : make("div", {}, `${body.device} ${at} s: ${name}`);
    });
  }

  /** Bytes as they came, in hexadecimal and as text. */
  function rawOf(name, data) {
    const raw = String(data ?? "");
    return make("div", {}, name, make("pre", {}, `${hexOf(raw)}\n${raw}`));
  }

  /** Return the bytes of a text with backslash escapes, in hexadecimal. */
  function hexOf(raw) {
    const escapes = { r: 13, n: 10, t: 9, "\\": 92, "'": 39, 0: 0 };
    const bytes = [];
    for (let at = 0; at < raw.length; at += 1) {
      const next = raw[at + 1];
      if (raw[at] !== "\\") bytes.push(raw.charCodeAt(at));
      else if (next === "x") {
        bytes.push(Number.parseInt(raw.slice(at + 2, at + 4), 16));
        at += 3;
      } else {
        bytes.push(escapes[next] ?? 63);
        at += 1;
      }
    }
    return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  }

  function dayOf({ day, tables }, alone) {
    const list = tables.filter((each) => each.table !== "").map((each) => tableOf(day, each));
    const name = make("summary", {}, day);
    return make("details", { class: "day", open: alone ? "" : undefined }, name, ...list);
  }

  function daemon() {
    const place = make("div", { class: "place" }, text("round.loading"));
    const head = make("summary", {}, text("round.daemon", { count: count(verdict.others) }));
    return opening(make("details", { class: "day" }, head, place), () => {
      const query = { kind: "entries", day: undefined, table: undefined, name: undefined };
      ask(query, ({ entries }) => place.replaceChildren(entriesOf(entries)));
    });
  }

  // The page

  function languages() {
    const select = make("select", { id: "language", "aria-label": text("page.language") });
    for (const [code, name] of Object.entries(LANGUAGES)) {
      const chosen = code === language ? "" : undefined;
      select.append(make("option", { value: code, selected: chosen, lang: code }, name));
    }
    select.addEventListener("change", () => {
      language = /** @type {HTMLSelectElement} */ (select).value;
      show();
    });
    return select;
  }

  function show() {
    document.documentElement.lang = language;
    if (header === null) {
      page.replaceChildren(make("h1", {}, "Novamás"), make("p", {}, damage));
      return;
    }
    const name = text("page.title", { site: header.site, days: header.days });
    document.title = name;
    page.replaceChildren(make("header", {}, make("h1", {}, name), languages()), banner());
    if (verdict === null) return;
    page.append(
      make("h2", {}, text("page.checked")),
      checks(),
      keyForm(),
      statement("audit", header.audit),
      statement("witness", header.witness),
      make("h2", {}, text("page.rounds")),
      ...(overview ?? []).map((day, _index, all) => dayOf(day, all.length === 1)),
      daemon(),
      make("h2", {}, text("page.facts")),
      facts(),
      make("h2", {}, text("page.proves")),
      make("p", {}, text("page.code")),
      make("p", {}, make("code", {}, "novamas check-export FILE.html")),
      make("p", {}, text("page.by_hand")),
      make("pre", {}, BY_HAND),
      make("p", {}, text("page.not_proved")),
    );
  }

  function onMessage({ data }) {
    if (data.kind === "progress") {
      progress = data;
      const bar = page.querySelector("progress");
      if (bar) bar.value = data.total ? data.done / data.total : 0;
      const line = document.getElementById("done");
      if (line) line.textContent = ofTotal();
    } else if (data.kind === "verdict") {
      verdict = data;
      if (data.given || overview) show();
    } else if (data.kind === "overview") {
      overview = data.days;
      show();
    } else if (data.kind === "damaged") {
      damage = data.why;
      show();
    } else if (data.kind === "unable") {
      unable = true;
      show();
    } else {
      const name = `${data.kind} ${data.day} ${data.table} ${data.name}`;
      waiting.get(name)?.(data);
      waiting.delete(name);
    }
  }

  function start() {
    const lines = [...document.querySelectorAll('script[type="text/plain"]')];
    const data = (name) => lines.filter((line) => line.className === name);
    const [first] = data("header");
    const [points] = data("checkpoints");
    if (first === undefined || points === undefined) throw new Error("no data");
    const bytes = Uint8Array.from(atob(first.textContent ?? ""), (each) => each.charCodeAt(0));
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const program = document.getElementById("checker")?.textContent ?? "";
    worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
    worker.addEventListener("message", onMessage);
    worker.addEventListener("error", () => {
      unable = true;
      show();
    });
    worker.postMessage({ kind: "header", header, checkpoints: points.textContent });
    for (const line of data("block")) {
      worker.postMessage({ kind: "block", data: line.textContent });
      line.remove(); // the checker has it now
    }
    worker.postMessage({ kind: "end" });
    show();
  }

  try {
    start();
  } catch (error) {
    damage = text("problem.damaged", { why: String(error) });
    header = null;
    show();
  }
}
