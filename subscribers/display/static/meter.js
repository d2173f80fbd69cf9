// The meter of a jackpot: its own page, a tile, a bar above the tables, a line in a table's
// picture. Amounts are drawn as published, never interpolated.

import { h } from "./tree.js";
import { card } from "./games/cards.js";
import { sign } from "./house.js";
import { clock, day, inBoth, speak, words } from "./page.js";

const MAX_AWARDS = 4; // pending awards shown
const MAX_AWARDS_BESIDE_WIN = 2; // beside one that was won
/** @type {[RegExp, number][]} */
const GLYPH_WIDTHS = [
  [/\d/, 0.7],
  [/[.,]/, 0.38],
  [/\s/, 0.35],
]; // of a bold character, in ems
const DEFAULT_GLYPH_WIDTH = 0.8;

/** The reason why a picture is not current, or null. */
export function troubleOf(picture, lost) {
  speak(picture.language);
  if (lost) return { text: words("trouble.no_server"), since: lost.since };
  return (
    picture.trouble && {
      ...picture.trouble,
      text: picture.trouble.text ?? words("jackpot.expired"),
    }
  );
}

/** The jackpot's state in one sentence, for screen readers. */
export function describe(picture, lost) {
  const trouble = troubleOf(picture, lost);
  if (trouble) return `${picture.title}: ${trouble.text}`;
  if (picture.won) {
    return `${words("jackpot.won")}: ${[picture.won.amount, picture.won.hand, picture.won.table].filter(Boolean).join(", ")}`;
  }
  return picture.out
    ? `${picture.title}: ${words("jackpot.not_in_play")}: ${picture.out.text}`
    : "";
}

/** A jackpot as large as the screen, for guests; what is for staff is in small type at the foot. */
export function screen(picture, lost) {
  const trouble = troubleOf(picture, lost);
  const waiting = picture.awards.filter((each) => each.award !== picture.won?.award);
  const few = waiting.slice(0, picture.won ? MAX_AWARDS_BESIDE_WIN : MAX_AWARDS);
  const layout = picture.won ? "hit" : few.length + picture.last.length > 0 ? "list" : "bare";
  return h(
    "article",
    { ...about("jackpot large", trouble, picture), "data-layout": layout },
    h("header", { class: "brand" }, sign(), h("h1", {}, picture.title)),
    h("section", { class: "value" }, digits(picture.amount)),
    picture.won && won(picture.won, false),
    few.length > 0 && awards("waiting", "jackpot.awards", few, waiting.length - few.length),
    picture.last.length > 0 && awards("latest-awards", "jackpot.last", picture.last),
    tables(picture, trouble),
    h(
      "footer",
      { class: "call" },
      stateLine(picture, trouble),
      h("p", { class: "staff" }, staff(picture, trouble)),
    ),
  );
}

/** A jackpot as one of many pictures. */
export function tile(picture, lost) {
  const trouble = troubleOf(picture, lost);
  const waits = !picture.won && picture.awards.length > 0;
  return h(
    "article",
    about("jackpot compact", trouble, picture),
    h(
      "header",
      {},
      h("h2", { style: { "--letters": String(picture.title.length) } }, picture.title),
      picture.simulated && h("span", { class: "simulated" }, words("display.simulated")),
    ),
    stateLine(picture, trouble),
    h("section", { class: "value" }, digits(picture.amount)),
    picture.won && won(picture.won, true),
    waits && h("p", { class: "first" }, short(picture, null)),
  );
}

/** A jackpot in one line, above the tables. */
export function bar(picture, lost) {
  const trouble = troubleOf(picture, lost);
  return h(
    "article",
    about("meter-bar", trouble, picture),
    h("h2", {}, picture.title),
    picture.simulated && h("span", { class: "simulated" }, words("display.simulated")),
    digits(picture.amount),
    h("span", { class: "state" }, short(picture, trouble)),
  );
}

/**
 * A line for each of these jackpots that the table is linked to. `linked`: the
 * table's own statement about its jackpot. Bets are closed if either of the two says so.
 */
export function lines(pictures, table, linked, lost) {
  return pictures.flatMap((picture) => {
    const linkedTable = picture.tables.find((each) => each.table === table);
    const own = linked?.jackpot === picture.jackpot ? linked : null;
    const here = own?.in_play === false ? own : linkedTable;
    if (!here) return [];
    const trouble = troubleOf(picture, lost);
    const out = !trouble && picture.in_play && !here.in_play;
    const stateText = out
      ? [words("jackpot.not_here"), here.why].filter(Boolean).join(": ")
      : short(picture, trouble);
    return [
      h(
        "li",
        about("meter-line", trouble, { ...picture, in_play: here.in_play }),
        h("span", { class: "soft" }, picture.title),
        digits(picture.amount),
        h("span", { class: "state" }, stateText),
      ),
    ];
  });
}

/** The attributes of a jackpot's element. */
function about(name, trouble, picture) {
  const state = trouble ? "before" : !picture.in_play && "out";
  return {
    class: [name, state].filter(Boolean).join(" "),
    "data-key": picture.jackpot,
    "data-jackpot": picture.jackpot,
    lang: picture.language,
  };
}

/**
 * An amount, a reel per character, with one element in it. One that changes is a new element
 * (rolling.js).
 */
function digits(text) {
  if (text === null) return h("p", { class: "amount none" }, "–");
  return h(
    "p",
    {
      class: "amount",
      role: "img",
      "aria-label": text,
      style: { "--wide": width(text).toFixed(2) },
    },
    [...text].map((each, index) =>
      h(
        "span",
        { class: /\d/.test(each) ? "reel" : "reel mark-of", "data-key": text.length - index },
        h("span", { class: "digit", "data-key": `${text.length - index} ${each}` }, each),
      ),
    ),
  );
}

/** The width of a text in bold, in ems. */
function width(text) {
  return [...text].reduce(
    (sum, each) =>
      sum + (GLYPH_WIDTHS.find(([kind]) => kind.test(each))?.[1] ?? DEFAULT_GLYPH_WIDTH),
    0,
  );
}

/** Whether bets are accepted, or what guests do; the reason, in small type, is for staff. */
function stateLine(picture, trouble) {
  const reason = trouble ?? (picture.in_play ? null : picture.out);
  const key = trouble ? "paused" : picture.in_play ? "in_play" : "not_in_play";
  return h(
    "p",
    { class: `strip ${trouble ? "trouble" : picture.in_play ? "open" : "out"}` },
    inBoth(`jackpot.${key}`, picture).map(({ text, language }, index) =>
      h("span", { class: index ? "second" : "phase", "data-key": index, lang: language }, text),
    ),
    trouble && h("span", { class: "ask" }, words("display.ask")),
    reason &&
      h(
        "span",
        { class: "why" },
        reason.text && h("span", { class: "cause" }, reason.text),
        since(reason.since),
      ),
  );
}

/** What staff want to know of a jackpot, in small type. */
function staff(picture, trouble) {
  return [
    picture.simulated && h("span", { class: "simulated" }, words("display.simulated")),
    picture.authorisation &&
      h(
        "span",
        { class: "facts" },
        [picture.decree, picture.authorisation].filter(Boolean).join(" · "),
      ),
    picture.terms_wait && h("span", {}, words("jackpot.terms_wait")),
    !trouble && picture.alerts.map((each) => h("span", { class: "alert" }, each.text)),
  ];
}

function since(time) {
  return (
    time &&
    h("span", { class: "since" }, [
      words("display.since", { time: clock(time) }),
      day(time) && ` (${day(time)})`,
    ])
  );
}

function when(time) {
  return [day(time), clock(time)].filter(Boolean).join(" ");
}

/** The jackpot's state in few words. */
function short(picture, trouble) {
  if (trouble) return trouble.text;
  if (!picture.in_play) {
    return [words("jackpot.not_in_play"), picture.out?.text].filter(Boolean).join(": ");
  }
  const first = picture.won ?? picture.awards[0];
  return first
    ? [picture.won ? words("jackpot.won") : first.said, first.amount, first.table]
        .filter(Boolean)
        .join(" · ")
    : words("jackpot.in_play");
}

function won(award, compact) {
  const prize = award.amount ?? words("jackpot.no_amount");
  return h(
    "section",
    { class: "won", "data-key": award.award },
    h("h2", {}, words("jackpot.won")),
    h("p", { class: "prize", style: { "--wide": width(prize).toFixed(2) } }, h("span", {}, prize)),
    h("p", { class: "whose" }, h("b", {}, award.hand), ` · ${award.table} · ${award.box}`),
    !compact && h("p", { class: "why" }, `${when(award.time)} · ${award.said}`),
    !compact &&
      award.cards.length > 0 &&
      h(
        "p",
        { class: "cards", style: { "--count": award.cards.length } },
        award.cards.map((each, index) => card(each, index)),
      ),
  );
}

/** A list of awards: those without room are not seen. */
function awards(name, heading, list, more = 0) {
  return h(
    "section",
    { class: `awards ${name}` },
    h("h2", {}, words(heading)),
    h(
      "ul",
      {},
      list.map((award) =>
        h(
          "li",
          { class: `award award-${award.status}`, "data-key": award.award },
          h("b", {}, award.amount ?? words("jackpot.no_amount")),
          h("span", {}, award.hand),
          h("span", { class: "soft" }, award.table),
          h("span", { class: "soft" }, day(award.time) || clock(award.time).slice(0, 5)),
          h("span", { class: "why" }, `${award.box} · ${award.said}`),
        ),
      ),
      more > 0 && h("li", { class: "soft" }, words("display.more", { count: more })),
    ),
  );
}

/** The tables at which it is played; why one is out of play is for staff. */
function tables(picture, trouble) {
  if (picture.tables.length === 0) return null;
  const why = (each) =>
    !trouble &&
    !picture.out &&
    each.why &&
    h("span", { class: "why" }, each.why, " ", since(each.since));
  return h(
    "section",
    { class: "authorised" },
    h("h2", {}, words("jackpot.tables")),
    h(
      "ul",
      {},
      picture.tables.map((each) =>
        h(
          "li",
          { class: each.in_play ? "in" : "out", "data-key": each.table },
          h("b", {}, each.table),
          why(each),
        ),
      ),
    ),
  );
}
