// How a page asks the server. Every request has a deadline: one that waits in the browser, or on
// the way, is withdrawn.

import { at } from "./base.js";
import { headerOf, onBeat } from "./beats.js";

/** Milliseconds until a request without an answer is withdrawn. */
export const DEADLINE = 8000;
const SHORT = 3000;
/**
 * The status of a request whose touch was too long ago when it arrived: nothing was done, and
 * nothing will be.
 */
export const TOO_LATE = 412;

/**
 * @param {string} path
 * @param {{body?: unknown, token?: string, touch?: any, deadline?: number, signal?: AbortSignal}}
 * [options]
 *
 * The answer: `{status, body, text}`; `status` 0: none came. `body`: sent as JSON, with POST.
 * `token`: of the session. `touch`: the one that it is made for. `signal`: withdraws it.
 */
export async function request(path, { body, token, touch, deadline = DEADLINE, signal } = {}) {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, deadline);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const headers = {};
  if (body !== undefined) {
    if (!headerOf(touch)) await hear();
    Object.assign(headers, {
      "content-type": "application/json",
      "x-novamas-token": token,
      "x-novamas-touch": headerOf(touch),
    });
  }
  try {
    const answer = await fetch(at(path), {
      method: body === undefined ? "GET" : "POST",
      credentials: "same-origin",
      cache: "no-store",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: ending.signal,
    });
    const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
    return {
      status: answer.status,
      body: isJson ? await answer.json() : null,
      text: isJson ? "" : await answer.text(),
    };
  } catch {
    return { status: 0, body: null, text: "" };
  } finally {
    clearTimeout(timer);
  }
}

/** Hear a beat, where a page has no stream, or none yet. */
export async function hear() {
  const { body } = await request("/beat", { deadline: SHORT });
  if (body) onBeat(body);
}

/** Wait for some milliseconds. */
export const pause = (time) => new Promise((done) => setTimeout(done, time));
