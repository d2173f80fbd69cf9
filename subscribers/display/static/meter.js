// The meter of a jackpot: its own page, a tile, a bar above the tables, a line in a table's
// picture. Amounts are drawn as published, never interpolated.

import { h } from "./tree.js";
import { card } from "./games/cards.js";
import { clock, day, speak, words } from "./page.js";

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

/** A jackpot as large as there is room. */
export function meter(picture, lost, compact = false) {
  const trouble = troubleOf(picture, lost);
  const waiting = picture.awards.filter((each) => each.award !== picture.won?.award);
  const few = waiting.slice(0, picture.won ? MAX_AWARDS_BESIDE_WIN : MAX_AWARDS);
  const more = waiting.length - few.length;
  return h(
    "article",
    {
      class: classes("jackpot", trouble, picture, compact),
      "data-key": picture.jackpot,
      "data-jackpot": picture.jackpot,
      lang: picture.language,
    },
    h(
      "header",
      {},
      h(compact ? "h2" : "h1", {}, picture.title),
      picture.simulated && h("span", { class: "simulated" }, words("display.simulated")),
      !compact &&
        picture.authorisation &&
        h(
          "span",
          { class: "facts soft" },
          [picture.decree, picture.authorisation].filter(Boolean).join(" · "),
        ),
    ),
    stateLine(picture, trouble),
    h("section", { class: "value" }, digits(picture.amount)),
    picture.won && won(picture.won, compact),
    compact && few.length > 0 && !picture.won && h("p", { class: "first" }, short(picture, null)),
    !compact &&
      few.length > 0 &&
      h(
        "section",
        { class: "awards waiting" },
        h("h2", {}, words("jackpot.awards")),
        h(
          "ul",
          {},
          few.map(awardLine),
          more > 0 && h("li", { class: "soft" }, words("display.more", { count: more })),
        ),
      ),
    !compact &&
      picture.last.length > 0 &&
      h(
        "section",
        { class: "awards latest-awards" },
        h("h2", {}, words("jackpot.last")),
        h("ul", {}, picture.last.map(awardLine)),
      ),
    !compact && tables(picture, trouble),
    !compact &&
      !trouble &&
      picture.alerts.length > 0 &&
      h(
        "ul",
        { class: "below" },
        picture.alerts.map((each) => h("li", { class: "alert" }, each.text)),
      ),
  );
}

/** A jackpot in one line, above the tables. */
export function bar(picture, lost) {
  const trouble = troubleOf(picture, lost);
  return h(
    "article",
    {
      class: classes("meter-bar", trouble, picture),
      "data-key": picture.jackpot,
      "data-jackpot": picture.jackpot,
      lang: picture.language,
    },
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
        {
          class: classes("meter-line", trouble, { in_play: here.in_play }),
          "data-key": picture.jackpot,
          "data-jackpot": picture.jackpot,
          lang: picture.language,
        },
        h("span", { class: "soft" }, picture.title),
        digits(picture.amount),
        h("span", { class: "state" }, stateText),
      ),
    ];
  });
}

function classes(name, trouble, picture, compact) {
  return [name, trouble && "before", !trouble && !picture.in_play && "out", compact && "compact"]
    .filter(Boolean)
    .join(" ");
}

/** An amount, one element per character. One that changes is a new element (rolling.js). */
function digits(text) {
  if (text === null) return h("p", { class: "amount none" }, "–");
  const wide = [...text].reduce(
    (sum, each) =>
      sum + (GLYPH_WIDTHS.find(([kind]) => kind.test(each))?.[1] ?? DEFAULT_GLYPH_WIDTH),
    0,
  );
  return h(
    "p",
    { class: "amount", role: "img", "aria-label": text, style: { "--wide": wide.toFixed(2) } },
    [...text].map((each, index) =>
      h("span", { class: "digit", "data-key": `${text.length - index} ${each}` }, each),
    ),
  );
}

function stateLine(picture, trouble) {
  if (trouble) {
    return h(
      "p",
      { class: "strip trouble" },
      h("span", { class: "phase" }, trouble.text),
      since(trouble.since),
    );
  }
  return picture.in_play
    ? h(
        "p",
        { class: "strip open" },
        h("span", { class: "phase" }, words("jackpot.in_play")),
        picture.terms_wait && h("span", { class: "detail" }, words("jackpot.terms_wait")),
      )
    : h(
        "p",
        { class: "strip out" },
        h("span", { class: "phase" }, words("jackpot.not_in_play")),
        picture.out?.text && h("span", {}, picture.out.text),
        since(picture.out?.since),
      );
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
  return h(
    "section",
    { class: "won", "data-key": award.award },
    h("h2", {}, words("jackpot.won")),
    h("p", { class: "prize" }, award.amount ?? words("jackpot.no_amount")),
    h(
      "p",
      { class: "whose" },
      h("b", {}, award.hand),
      ` · ${award.table} · ${award.box}`,
      !compact && h("span", { class: "soft" }, ` · ${when(award.time)} · ${award.said}`),
    ),
    !compact &&
      award.cards.length > 0 &&
      h(
        "p",
        { class: "cards", style: { "--count": award.cards.length } },
        award.cards.map((each, index) => card(each, index)),
      ),
  );
}

function awardLine(award) {
  return h(
    "li",
    { class: `award award-${award.status}` },
    h("b", {}, award.amount ?? words("jackpot.no_amount")),
    h("span", {}, `${award.hand} · ${award.table} · ${award.box}`),
    h("span", { class: "said" }, award.said),
    h("span", { class: "soft" }, when(award.time)),
  );
}

function tables(picture, trouble) {
  if (picture.tables.length === 0) return null;
  const why = (each) =>
    trouble || picture.out ? null : each.why && [h("span", {}, each.why), since(each.since)];
  return h(
    "section",
    { class: "authorised" },
    h("h2", {}, words("jackpot.tables")),
    h(
      "ul",
      {},
      picture.tables.map((each) =>
        h("li", { class: each.in_play ? "in" : "out" }, h("b", {}, each.table), why(each)),
      ),
    ),
  );
}
