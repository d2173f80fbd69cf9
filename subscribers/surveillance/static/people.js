// The people whom the archive knows at these tables in this time, to choose from.

import { h } from "../../static/drawing.js";
import { words } from "./asking.js";

/** A list of people. Its value is the name of a filter and the person's: `on_duty:A. Riera`. */
export function peoplePicker() {
  const select = h("select", {}, everyone());

  /** Show the people of the server's answer; keep who is chosen. */
  function fill({ on_duty: onDuty, authors }) {
    const chosen = select.value;
    const groups = [
      group(
        "on_duty",
        onDuty.map(({ name, duty }) => [name, `${name} (${duty})`]),
      ),
      group(
        "person",
        authors.map((name) => [name, name]),
      ),
    ];
    select.replaceChildren(everyone(), ...groups.filter(Boolean));
    choose(chosen);
  }

  function choose(value) {
    select.value = value;
    if (select.value === value) return;
    select.append(h("option", { value }, value.slice(value.indexOf(":") + 1)));
    select.value = value;
  }

  /** What is chosen, as a parameter of a search: `["on_duty", name]`; both empty for everyone. */
  function parameter() {
    const colon = select.value.indexOf(":");
    return [select.value.slice(0, Math.max(colon, 0)), select.value.slice(colon + 1)];
  }

  return { select, fill, choose, parameter };
}

const everyone = () => h("option", { value: "" }, words("page.anyone"));

function group(filter, choices) {
  return (
    choices.length > 0 &&
    h(
      "optgroup",
      { label: words(filter === "on_duty" ? "page.on_duty" : "page.authors") },
      choices.map(([name, text]) => h("option", { value: `${filter}:${name}` }, text)),
    )
  );
}
