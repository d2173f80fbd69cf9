// Requests of the surveillance page.

import { byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { request, TOO_LATE } from "../../static/request.js";

const DEADLINE_MS = 30_000; // a search of a large archive takes time

export const page = JSON.parse(byId("page").textContent);

/** A text in the page's language, with its fields filled in. */
export function words(key, fields = {}) {
  const text = page.words[key] ?? key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");
}

/** Send a GET; return `{status, body, text}`. `status` is 0 if there was no response. */
export function get(path, query) {
  return checked(request(`${path}?${query}`, { deadline: DEADLINE_MS }));
}

export function post(path, body, more = {}) {
  return checked(
    request(path, { token: page.token, touch: touch(), deadline: DEADLINE_MS, ...more, body }),
  );
}

async function checked(asked) {
  const answer = await asked;
  if (answer.status === 401) location.reload();
  if (answer.status === 0) return { ...answer, text: words("page.no_server") };
  return answer.status === TOO_LATE ? { ...answer, text: words("pit.late") } : answer;
}

/** The sign of each mark, so that it is recognised without its colour. */
export const SIGNS = {
  result: "",
  void: "∅",
  unresolved: "?",
  corrected: "↺",
  irregularity: "▲",
  alert: "◆",
  finding: "✖",
  access: "◉",
  other: "",
};
