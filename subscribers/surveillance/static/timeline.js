// Rounds as blocks over time, one line per table. A line is one tab stop: arrow keys go through its
// rounds, Enter opens one. Rounds without room of their own are one block, which shows them.

import { h } from "../../static/drawing.js";
import { SIGNS, words } from "./asking.js";
import { clockText, dayText, moment } from "./times.js";

const TICKS = 8;
const TARGET_PX = 24; // the least that a finger hits: WCAG 2.5.8
const GAP_PX = 2;
const DIGIT_PX = 8;
const SEVERAL_PX = 44; // the least width of a block of several rounds
const SIGN_PX = 16;
/** Marks, the worst first. */
const WORST = [
  "finding",
  "void",
  "unresolved",
  "corrected",
  "irregularity",
  "alert",
  "access",
  "result",
];

/**
 * Draw the timeline; `open(block)` opens a round. `begin`, `end`: milliseconds since 1970; `width`:
 * pixels of a line.
 */
export function draw(answer, tables, { begin, end, width }, chosen, open) {
  const { blocks: all, points: others } = answer.timeline;
  const lanes = [
    ...new Set([...tables, ...all.map((each) => each.table), ...others.map((each) => each.table)]),
  ].filter(Boolean);
  const within = (time) => Math.min(Math.max(Date.parse(time), begin), end) - begin;
  const percent = (span) => `${(100 * span) / (end - begin)}%`;
  return [
    answer.crowded && h("p", { class: "soft" }, words("page.crowded")),
    lanes.map(lane),
    h(
      "div",
      { class: "scale" },
      h("span"),
      h(
        "div",
        { class: "ticks", "aria-hidden": "true" },
        Array.from({ length: TICKS - 1 }, (_, index) => {
          const after = ((index + 1) * (end - begin)) / TICKS;
          return h("span", { style: { left: percent(after) } }, label(begin + after, end - begin));
        }),
      ),
    ),
    h(
      "div",
      { class: "legend" },
      Object.entries(SIGNS)
        .filter(([, sign]) => sign)
        .map(([mark, sign]) =>
          h("span", {}, h("span", { class: `sign ${mark}` }, sign), " ", words(`mark.${mark}`)),
        ),
    ),
  ]
    .flat(Infinity)
    .filter(Boolean);

  function lane(table) {
    const groups = grouped(
      all.filter((each) => each.table === table),
      (time) => (width * within(time)) / (end - begin),
      width,
    );
    const points = others.filter((each) => each.table === table && SIGNS[each.mark]);
    const id = (index) => `round-${lanes.indexOf(table)}-${index}`;
    let at = groups.findIndex(({ blocks }) => blocks.some((each) => same(each, chosen)));
    const inside = h("div", { class: "within", hidden: true });
    const options = groups.map((group, index) =>
      h(
        "div",
        {
          role: "option",
          id: id(index),
          class: group.blocks.length > 1 ? `${group.mark} several` : group.mark,
          "aria-selected": String(index === at),
          "aria-label": called(group),
          title: called(group),
          style: { left: `${group.left}px`, width: `${group.right - group.left}px` },
          click: () => choose(index, true),
        },
        h("span", { class: "number", "aria-hidden": "true" }, group.text),
        h(
          "span",
          { class: "signs", "aria-hidden": "true" },
          group.signs
            .slice(0, Math.floor((group.right - group.left) / SIGN_PX))
            .map((mark) => h("span", { class: `sign ${mark}` }, SIGNS[mark])),
        ),
      ),
    );
    const line = h(
      "div",
      {
        class: "line",
        tabindex: "0",
        role: groups.length ? "listbox" : "group",
        "aria-label": `${words("page.timeline")} ${table}`,
        "aria-activedescendant": at >= 0 ? id(at) : null,
        keydown: (event) => {
          const next = {
            ArrowRight: at + 1,
            ArrowLeft: at < 0 ? groups.length - 1 : at - 1,
            Home: 0,
            End: groups.length - 1,
          }[event.key];
          if (event.key === "Enter" && at >= 0) choose(at, true);
          else if (next === undefined || !groups[next]) return;
          else choose(next, false);
          event.preventDefault();
        },
      },
      options,
      groups.length > 0 && gathered(points, (time) => (width * within(time)) / (end - begin)),
    );
    return h(
      "div",
      { class: "lane" },
      h("span", { class: "name", title: table }, table),
      h("div", {}, line, inside),
    );

    function choose(index, go) {
      at = index;
      select(options[at]);
      line.setAttribute("aria-activedescendant", options[at].id);
      if (!go) return;
      const { blocks } = groups[at];
      inside.hidden = blocks.length === 1;
      if (blocks.length === 1) open(blocks[0]);
      else {
        inside.replaceChildren(...blocks.map((block) => single(block, open)));
        inside.firstChild.focus();
      }
    }
  }
}

/** A round of several that are drawn as one. */
function single(block, open) {
  const [mark] = signed([block]);
  return h(
    "button",
    { type: "button", class: block.mark, title: calledOne(block), click: () => open(block) },
    mark && h("span", { class: `sign ${mark}`, "aria-hidden": "true" }, SIGNS[mark]),
    words("page.round", { round: block.round }),
  );
}

/**
 * Rounds as they are drawn: each wide enough for a finger and its number, and those that would lie
 * on each other as one.
 */
function grouped(rounds, position, width) {
  const groups = [];
  for (const block of [...rounds].sort((a, b) => a.begin.localeCompare(b.begin))) {
    const needed = Math.max(TARGET_PX, DIGIT_PX * String(block.round).length + 6);
    const left = Math.min(position(block.begin), width - needed);
    const right = Math.max(position(block.end), left + needed);
    const last = groups[groups.length - 1];
    const least = last?.blocks.length > 1 ? last.left + SEVERAL_PX : 0;
    if (last && left < Math.max(last.right, least) + GAP_PX) {
      last.blocks.push(block);
      last.right = Math.max(last.right, right);
    } else groups.push({ blocks: [block], left, right });
  }
  return groups.map(({ blocks, left: begin, right: end }) => {
    const several = blocks.length > 1;
    const left = Math.max(0, several ? Math.min(begin, width - SEVERAL_PX) : begin);
    return {
      blocks,
      left,
      right: several ? Math.max(end, left + SEVERAL_PX) : end,
      mark: WORST.find((mark) => blocks.some((block) => block.mark === mark)) ?? "other",
      signs: signed(blocks),
      text: several ? `×${blocks.length}` : String(blocks[0].round),
    };
  });
}

/** Marks outside rounds; those that would lie on each other as the worst of them. */
function gathered(points, position) {
  const places = [];
  for (const point of [...points].sort((a, b) => a.time.localeCompare(b.time))) {
    const left = position(point.time);
    const last = places[places.length - 1];
    if (last && left < last.left + TARGET_PX) last.marks.push(point.mark);
    else places.push({ left, marks: [point.mark] });
  }
  return places.map(({ left, marks: found }) => {
    const mark = WORST.find((each) => found.includes(each)) ?? found[0];
    return h(
      "div",
      { class: "point", role: "presentation", style: { left: `${left}px` } },
      h("span", { class: `sign ${mark}`, "aria-hidden": "true" }, SIGNS[mark]),
      found.length > 1 && h("span", { class: "count", "aria-hidden": "true" }, found.length),
    );
  });
}

/** The marks of rounds that have a sign, the worst first. */
function signed(blocks) {
  const found = new Set(blocks.flatMap(marks));
  return WORST.filter((mark) => SIGNS[mark] && found.has(mark));
}

function select(option) {
  for (const each of document.querySelectorAll(".line [aria-selected=true]")) {
    each.setAttribute("aria-selected", "false");
  }
  option.setAttribute("aria-selected", "true");
}

export function same(one, other) {
  return (
    other !== null &&
    one.table === other.table &&
    one.session === other.session &&
    one.round === other.round
  );
}

function marks(block) {
  return [block.mark, ...block.marks.filter((mark) => mark !== block.mark)];
}

function called({ blocks }) {
  if (blocks.length === 1) return calledOne(blocks[0]);
  const found = signed(blocks).map((mark) => words(`mark.${mark}`));
  return [words("page.rounds", { count: blocks.length }), ...found, moment(blocks[0].begin)].join(
    ", ",
  );
}

function calledOne(block) {
  const found = marks(block)
    .map((mark) => words(`mark.${mark}`))
    .join(", ");
  return `${words("page.round", { round: block.round })}, ${words("page.session", { session: block.session })}: ${found}, ${moment(block.begin)}`;
}

function label(at, span) {
  const clock = clockText(at, span < 600_000);
  return span > 172_800_000 ? `${dayText(at)} ${clock}` : clock;
}
