// What the page asks the server.

export const page = JSON.parse(document.getElementById("page").textContent);

/** A text of the page's language, its fields filled in. */
export function words(key, fields = {}) {
  const text = page.words[key] ?? key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");
}

/** The answer to a question: `{status, body, text}`. `status` 0: no answer came. */
export function get(path, query) {
  return told(() => fetch(`${path}?${query}`, { credentials: "same-origin", cache: "no-store" }));
}

export function post(path, body) {
  const headers = { "content-type": "application/json", "x-novamas-token": page.token };
  return told(() => fetch(path, { method: "POST", credentials: "same-origin", cache: "no-store", headers, body: JSON.stringify(body) }));
}

async function told(ask) {
  try {
    const answer = await ask();
    if (answer.status === 401) location.reload();
    const json = (answer.headers.get("content-type") ?? "").startsWith("application/json");
    return { status: answer.status, body: json ? await answer.json() : null, text: json ? "" : await answer.text() };
  } catch {
    return { status: 0, body: null, text: words("page.no_server") };
  }
}

/** A moment on this machine's clock, with its offset from UTC. */
export function moment(time, day = false) {
  const at = new Date(time);
  const two = (number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");
  const offset = -at.getTimezoneOffset();
  const zone = `${offset < 0 ? "−" : "+"}${two(offset / 60)}:${two(offset % 60)}`;
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
  return `${day ? `${date} ` : ""}${clock} ${zone}`;
}

/** What each mark looks like, so that it is known without its colour. */
export const SIGNS = { result: "", void: "∅", unresolved: "?", corrected: "↺", irregularity: "▲", alert: "◆", finding: "✖", access: "◉", other: "" };
