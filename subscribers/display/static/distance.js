// The least size of what is read on a display, from the distance and the size of the screen.
//
// `?metres=8&inch=55`: read from 8 m on a screen with a diagonal of 55 inches. The style sheets set
// everything in multiples of `--least`, and leave out what has no room at that size.

const ARC_MINUTES = 16; // the least height of a capital that is read without effort
const CAP_HEIGHT = 0.727; // of Inter, as a part of the font size
const MM_PER_INCH = 25.4;
const PHONE = { width: 600, metres: 0.4, inch: 6.1 }; // narrower pages are in a hand
const HUNG = { metres: 4, inch: 55 };

/**
 * The font size in CSS pixels whose capitals are 16 minutes of arc high at `metres` from a screen of
 * `inch` that shows `width` by `height` pixels.
 */
export function leastSize(metres, inch, width, height) {
  const millimetresPerPixel = (inch * MM_PER_INCH) / Math.hypot(width, height);
  const cap = metres * 1000 * Math.tan((ARC_MINUTES / 60) * (Math.PI / 180));
  return cap / millimetresPerPixel / CAP_HEIGHT;
}

/** Set `--least` for this page's distance, now and when its size changes. */
export function readFromDistance() {
  const asked = new URLSearchParams(location.search);
  const number = (name, low, high) => {
    const value = Number.parseFloat(asked.get(name) ?? "");
    return value > 0 ? Math.min(Math.max(value, low), high) : null;
  };
  const set = () => {
    const usual = innerWidth < PHONE.width ? PHONE : HUNG;
    const metres = number("metres", 0.2, 30) ?? usual.metres;
    const inch = number("inch", 4, 200) ?? usual.inch;
    const least = leastSize(metres, inch, innerWidth, innerHeight);
    document.documentElement.style.setProperty("--least", `${least.toFixed(2)}px`);
  };
  addEventListener("resize", set);
  set();
}
