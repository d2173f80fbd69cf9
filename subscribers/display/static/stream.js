// The pictures of this page's tables and jackpots as they change. Without a sign of life for SILENCE, `lost` is
// called, and again the connection is made anew; the pictures of before are then not current.

import { page } from "./page.js";

const SILENCE = 6000;
const LOOK = 500;

/**
 * `onPicture(picture)` for each table, `onLost(since)` when the server is not heard, null when it is
 * again, `onJackpot(picture)` for each jackpot: also when its time is up and nothing newer was said.
 */
export function listen(onPicture, onLost, onJackpot = () => {}) {
  const query = new URLSearchParams([...page.tables.map((table) => ["table", table]), ...page.jackpots.map((jackpot) => ["jackpot", jackpot])]);
  const ends = new Map();
  if (page.language) query.set("lang", page.language);
  let heard = Date.now();
  let lost = false;
  let source = connect();

  function connect() {
    const made = new EventSource(`/stream?${query}`);
    made.addEventListener("picture", (event) => {
      alive();
      onPicture(JSON.parse(event.data));
    });
    made.addEventListener("jackpot", (event) => {
      alive();
      tell(JSON.parse(event.data));
    });
    made.addEventListener("beat", alive);
    made.addEventListener("error", () => {
      if (made.readyState === EventSource.CLOSED) setTimeout(() => made === source && (source = connect()), 1000);
    });
    return made;
  }

  function tell(picture) {
    clearTimeout(ends.get(picture.jackpot));
    onJackpot(picture);
    if (!picture.current) return;
    const end = () => onJackpot({ ...picture, current: false, in_play: false, out: null, trouble: { why: "expired", text: null, since: new Date().toISOString() } });
    ends.set(picture.jackpot, setTimeout(end, picture.holds * 1000));
  }

  function alive() {
    heard = Date.now();
    if (lost) onLost(null);
    lost = false;
  }

  setInterval(() => {
    if (lost || Date.now() - heard < SILENCE) return;
    lost = true;
    onLost(new Date(heard).toISOString());
    source.close();
    source = connect();
  }, LOOK);
}
