// Rounds as blocks over time, one line per table. A line is one tab stop: arrow keys go through its
// rounds, Enter opens one.

import { h } from "../../static/drawing.js";
import { SIGNS, words } from "./asking.js";
import { clockText, dayText, moment } from "./times.js";

const TICKS = 8;

/** Draw the timeline; `open(block)` opens a round. `begin`, `end`: milliseconds since 1970. */
export function draw(answer, tables, begin, end, chosen, open) {
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
    const blocks = all
      .filter((each) => each.table === table)
      .sort((a, b) => a.begin.localeCompare(b.begin));
    const points = others.filter((each) => each.table === table && SIGNS[each.mark]);
    const id = (index) => `round-${lanes.indexOf(table)}-${index}`;
    let at = blocks.findIndex((each) => same(each, chosen));
    const options = blocks.map((block, index) =>
      h(
        "div",
        {
          role: "option",
          id: id(index),
          class: block.mark,
          "aria-selected": String(index === at),
          "aria-label": called(block),
          title: called(block),
          style: {
            left: percent(within(block.begin)),
            width: percent(within(block.end) - within(block.begin)),
          },
          click: () => choose(index, true),
        },
        h(
          "span",
          { class: "signs", "aria-hidden": "true" },
          marks(block)
            .filter((mark) => SIGNS[mark])
            .slice(0, 3)
            .map((mark) => h("span", { class: `sign ${mark}` }, SIGNS[mark])),
        ),
      ),
    );
    const line = h(
      "div",
      {
        class: "line",
        tabindex: "0",
        role: blocks.length ? "listbox" : "group",
        "aria-label": `${words("page.timeline")} ${table}`,
        "aria-activedescendant": at >= 0 ? id(at) : null,
        keydown: (event) => {
          const next = {
            ArrowRight: at + 1,
            ArrowLeft: at < 0 ? blocks.length - 1 : at - 1,
            Home: 0,
            End: blocks.length - 1,
          }[event.key];
          if (event.key === "Enter" && at >= 0) open(blocks[at]);
          else if (next === undefined || !blocks[next]) return;
          else choose(next, false);
          event.preventDefault();
        },
      },
      options,
      blocks.length > 0 &&
        points.map((point) =>
          h(
            "div",
            { class: "point", role: "presentation", style: { left: percent(within(point.time)) } },
            h(
              "span",
              { class: "signs", "aria-hidden": "true" },
              h("span", { class: `sign ${point.mark}` }, SIGNS[point.mark]),
            ),
          ),
        ),
    );
    return h("div", { class: "lane" }, h("span", { class: "name", title: table }, table), line);

    function choose(index, go) {
      at = index;
      select(options[at]);
      line.setAttribute("aria-activedescendant", options[at].id);
      if (go) open(blocks[at]);
    }
  }
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

function called(block) {
  const found = marks(block)
    .map((mark) => words(`mark.${mark}`))
    .join(", ");
  return `${words("page.round", { round: block.round })}, ${words("page.session", { session: block.session })}: ${found}, ${moment(block.begin)}`;
}

function label(at, span) {
  const clock = clockText(at, span < 600_000);
  return span > 172_800_000 ? `${dayText(at)} ${clock}` : clock;
}
