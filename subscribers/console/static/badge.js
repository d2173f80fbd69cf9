// A badge reader that types like a keyboard: a burst of keys, ended by Enter. No finger is as fast.

const BURST_GAP_MS = 50; // between two keys of a reader
const MIN_LENGTH = 4;

/** @type {{text: string, at: number, field: HTMLInputElement | null, value: string}} */
let burst = { text: "", at: -Infinity, field: null, value: "" };
let onRead = (_badge) => {};

/** Call `read(badge)` when a badge is read. What the reader typed into a field is taken back. */
export function onBadge(read) {
  onRead = read;
}

addEventListener(
  "keydown",
  (event) => {
    const isNext = event.timeStamp - burst.at <= BURST_GAP_MS;
    if (event.key === "Enter" && isNext && burst.text.length >= MIN_LENGTH) {
      event.preventDefault();
      event.stopPropagation();
      if (burst.field) burst.field.value = burst.value;
      const { text } = burst;
      burst = { text: "", at: -Infinity, field: null, value: "" };
      return onRead(text);
    }
    if (event.key.length !== 1 || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isNext) {
      burst.text += event.key;
    } else {
      const field = event.target instanceof HTMLInputElement ? event.target : null;
      burst = { text: event.key, at: 0, field, value: field?.value ?? "" };
    }
    burst.at = event.timeStamp;
  },
  true,
);
