// Tones, one after the other.

const TONE_SECONDS = 0.18;

/** Play tones of these frequencies, in Hz, each for `seconds`. */
export function play(context, tones, seconds = TONE_SECONDS) {
  tones.forEach((hertz, index) => {
    const start = context.currentTime + index * seconds;
    const [oscillator, gain] = [context.createOscillator(), context.createGain()];
    oscillator.frequency.value = hertz;
    gain.gain.setValueAtTime(0.25, start);
    gain.gain.exponentialRampToValueAtTime(0.001, start + seconds);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(start);
    oscillator.stop(start + seconds);
  });
}
