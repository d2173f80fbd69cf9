// Times that run: how long something has lasted, by the server's clock.

import { serverTime } from "../../static/beats.js";

/** The time since `since` (ISO 8601) as `m:ss` or `h:mm:ss`; empty where it is not known. */
export function elapsed(since) {
  const now = serverTime();
  if (!since || now === null) return "";
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  const part = (value) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${part(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${part(minutes % 60)}:${part(seconds % 60)}`;
}

/** Let an element show the time since `since`; null for none. */
export function run(element, since) {
  if (since) element.dataset.since = since;
  else delete element.dataset.since;
  show(element);
  return element;
}

/** Show the present time in every element that runs. */
export function runAll() {
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("[data-since]")
  )) {
    show(each);
  }
}

function show(element) {
  const text = elapsed(element.dataset.since);
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}
