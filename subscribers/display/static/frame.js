// A table's frame, the same for every game, around the body that the game draws.
//
// A game is a module with `draw(body, picture, compact)`, which returns elements, and optionally
// `describe(body)`, its result in words, and `legend()`, pairs of a mark and its meaning. `compact`
// is true for one of many tables on the screen.

import { h } from "./tree.js";
import { media, sign } from "./house.js";
import { clock, inBoth, money, page, secondLanguage, speak, words } from "./page.js";
import { fan } from "./games/cards.js";
import * as baccarat from "./games/baccarat.js";
import * as boule from "./games/boule.js";
import * as boxes from "./games/boxes.js";
import * as circle from "./games/circle.js";
import * as craps from "./games/craps.js";
import * as fortune from "./games/fortune-wheel.js";
import * as roulette from "./games/roulette.js";
import * as trente from "./games/trente.js";

const GAMES = {
  boule,
  craps,
  "fortune-wheel": fortune,
  roulette,
  "punto-banca": baccarat,
  "chemin-de-fer": baccarat,
  "trente-et-quarante": trente,
  blackjack: boxes,
  "house-poker": boxes,
  trijoker: boxes,
  "texas-house": boxes,
  "pai-gow": boxes,
  "circle-poker": circle,
  "circle-draw": circle,
};

/** The games that show a wheel while they are closed; the others show a fan of cards. */
const WHEELS = new Set(["boule", "fortune-wheel", "roulette", "craps"]);

/**
 * The element of a table. `lost`: `{since}` while the server is silent, or null. `meters`: the
 * lines of the jackpots that the table is linked to.
 */
export function frame(picture, lost, compact = false, meters = /** @type {any[]} */ ([])) {
  speak(picture.language);
  const trouble = troubleOf(picture, lost);
  const game = GAMES[picture.view];
  const closed = picture.phase.id === "closed";
  const drawn = () =>
    closed && !compact && !WHEELS.has(picture.view)
      ? fan()
      : game.draw(picture.body, picture, compact);
  return h(
    "article",
    {
      class: ["table", trouble && "before", compact ? "compact" : "large", closed && "shut"]
        .filter(Boolean)
        .join(" "),
      "data-table": picture.table,
      "data-view": picture.view,
      lang: picture.language,
    },
    head(picture, compact),
    h("section", { class: `body ${picture.view}` }, game && picture.body ? drawn() : null),
    !compact && media(picture, trouble),
    foot(picture, trouble, compact, meters),
  );
}

/** The reason why a picture is not current, or null. */
export function troubleOf(picture, lost) {
  return lost ? { text: words("trouble.no_server"), since: lost.since } : picture.trouble;
}

/**
 * The elements shown before the first picture: none unless the server is silent (`lost`).
 */
export function unheard(lost) {
  if (!lost) return [];
  speak(page.own);
  return [paused(troubleOf(null, lost))];
}

/**
 * The state of a table in one sentence, for screen readers: its trouble or its last result.
 */
export function describe(picture, lost) {
  speak(picture.language);
  const trouble = troubleOf(picture, lost);
  if (trouble) return `${picture.title.text}: ${trouble.text}`;
  const game = GAMES[picture.view];
  return game?.describe && picture.body ? (game.describe(picture.body, picture) ?? "") : "";
}

/** The legend of a game's marks. */
export function legend(picture) {
  speak(picture.language);
  const marks = GAMES[picture.view]?.legend?.() ?? [];
  return h(
    "div",
    { lang: picture.language },
    h(
      "dl",
      {},
      marks.map(([mark, meaning]) => h("div", {}, h("dt", {}, mark), h("dd", {}, meaning))),
      h(
        "div",
        {},
        h("dt", {}, h("span", { class: "swatch-before" })),
        h("dd", {}, words("display.of_before")),
      ),
    ),
    h("p", {}, words("display.how_counted")),
  );
}

function head(picture, compact) {
  const other = secondLanguage(picture);
  const name = other && picture.titles[other];
  return h(
    "header",
    { class: "brand" },
    !compact && sign(),
    h(
      compact ? "h2" : "h1",
      { lang: picture.title.language, style: { "--letters": String(picture.title.text.length) } },
      picture.title.text,
    ),
    !compact &&
      name &&
      name !== picture.title.text &&
      h("span", { class: "second", lang: other }, name),
    compact && h("span", { class: "soft name" }, picture.table),
    picture.simulated && compact && simulated(),
    picture.phase.id !== "closed" && limits(picture, compact),
    !compact &&
      picture.dealers.length > 0 &&
      h("p", { class: "dealer" }, words("display.dealer", { names: picture.dealers.join(" · ") })),
    picture.phase.id !== "closed" && !compact && announced(picture),
  );
}

function simulated() {
  return h("span", { class: "simulated" }, words("display.simulated"));
}

/** The lowest and the highest stake. */
function limits(picture, compact) {
  const { currency, minimum, maximum } = picture;
  if (minimum === null || !currency) return null;
  const limit = (word, amount) =>
    h("span", { class: "limit" }, `${words(word)} `, h("b", {}, money(amount, currency)));
  return h(
    "p",
    { class: "limits" },
    limit("display.minimum", minimum),
    !compact && maximum !== null && limit("display.maximum", maximum),
  );
}

/** An announced new minimum, and how long it takes until it holds. */
function announced({ view, currency, next_minimum: next, rounds_at_minimum: rounds }) {
  const until = ["roulette", "boule"].includes(view)
    ? "display.balls_until_minimum"
    : "display.rounds_until_minimum";
  const texts = [
    next !== null && currency && words("display.next_minimum", { amount: money(next, currency) }),
    rounds > 0 && words(until, { count: rounds }),
  ].filter(Boolean);
  return texts.length > 0 && h("p", { class: "announced" }, texts.join(" · "));
}

/** What is called at the table, or what guests do while it is not current; and the jackpots. */
function foot(picture, trouble, compact, meters) {
  return h(
    "footer",
    { class: "call" },
    trouble ? paused(trouble, picture) : strip(picture),
    meters.length > 0 && h("ul", { class: "meter-lines" }, meters),
    notes(picture, compact),
    h("p", { class: "staff" }, staff(picture, trouble, compact)),
  );
}

function strip(picture) {
  const open = ["bets_open", "antes"].includes(picture.phase.id);
  const { call, phase } = picture;
  const language = secondLanguage(picture);
  const other =
    language && (call ? picture.calls[language] : inBoth(`phase.${phase.id}`, picture)[1]?.text);
  return h(
    "p",
    {
      class: `strip ${picture.closed ? "closed" : open ? "open" : phase.id === "closed" ? "shut" : ""}`,
    },
    call && h("q", { lang: call.language }, call.text),
    h("span", { class: "phase" }, phase.text),
    other &&
      other !== (call ?? phase).text &&
      h(call ? "q" : "span", { class: "second", lang: language }, other),
    picture.last_of_session && h("span", { class: "ending" }, words("display.last_of_session")),
    !picture.last_of_session &&
      picture.rounds_left > 0 &&
      h("span", { class: "ending" }, words("display.rounds_left", { count: picture.rounds_left })),
  );
}

/** What guests read while a picture is not current; why, in small type, is for staff. */
function paused(trouble, picture = null) {
  const languages = picture
    ? inBoth("display.paused", picture)
    : [{ text: words("display.paused"), language: null }];
  return h(
    "p",
    { class: "strip trouble" },
    languages.map(({ text, language }, index) =>
      h("span", { class: index ? "second" : "phase", "data-key": index, lang: language }, text),
    ),
    h("span", { class: "ask" }, words("display.ask")),
    h("span", { class: "why" }, why(trouble)),
  );
}

function why(trouble) {
  return [
    h("span", { class: "cause" }, trouble.text),
    trouble.since &&
      h("span", { class: "since" }, words("display.since", { time: clock(trouble.since) })),
    trouble.detail && h("span", { class: "detail" }, trouble.detail),
  ];
}

/** What staff want to know of a table, in small type. */
function staff(picture, trouble, compact) {
  return [
    !compact && h("span", {}, picture.table),
    picture.simulated && !compact && simulated(),
    picture.session > 0 &&
      !compact &&
      h("span", {}, words("display.session", { session: picture.session })),
    picture.round > 0 && h("span", {}, words("display.round", { round: picture.round })),
    picture.waits.length > 0 &&
      h(
        "span",
        { class: "waits" },
        words("display.waits_for", {
          commands: picture.waits.map((each) => each.text).join(" · "),
        }),
      ),
    picture.alerts.map((each) => h("span", { class: "alert" }, each.text)),
    picture.body?.unheard > 0 &&
      !compact &&
      h("span", {}, words("display.rounds_unheard", { count: picture.body.unheard })),
  ];
}

/** The unusual ones of the latest rounds. */
function notes(picture, compact) {
  const shown = picture.phase.id === "closed" ? [] : picture.notes.slice(0, compact ? 1 : 2);
  return (
    shown.length > 0 &&
    h(
      "ul",
      { class: "below" },
      shown.map((each) =>
        h(
          "li",
          { class: `note ${each.kind}`, "data-key": `${each.round} ${each.kind}` },
          each.text,
        ),
      ),
    )
  );
}
