// Requests to the server. Each has a deadline, after which it is aborted.

import { at } from "./base.js";
import { headerOf, onBeat } from "./beats.js";

/** Milliseconds after which a request without a response is aborted. */
export const DEADLINE_MS = 8000;
const BEAT_DEADLINE_MS = 3000;
/**
 * The status of a request whose touch was too old when it arrived: the server did nothing, and will
 * do nothing.
 */
export const TOO_LATE = 412;

/**
 * Send a request.
 * @param {string} path
 * @param {{ body?: unknown, token?: string, touch?: any, deadline?: number, signal?: AbortSignal }}
 * [options] `body` is sent as JSON with POST; `token` is the session's; `touch` is the touch that
 * causes the request; `signal` aborts it
 * @returns the response as `{status, body, text}`; `status` is 0 if there was none
 */
export async function request(path, { body, token, touch, deadline = DEADLINE_MS, signal } = {}) {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, deadline);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const headers = {};
  if (body !== undefined) {
    if (!headerOf(touch)) await fetchBeat();
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

/** Fetch a beat, for a page that has no stream, or none yet. */
export async function fetchBeat() {
  const { body } = await request("/beat", { deadline: BEAT_DEADLINE_MS });
  if (body) onBeat(body);
}

/** Wait for some milliseconds. */
export const pause = (time) => new Promise((done) => setTimeout(done, time));
