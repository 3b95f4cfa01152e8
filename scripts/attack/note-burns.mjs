// @ts-check
// Notes the processor time that a hostile peer burns. Loaded before it (`NODE_OPTIONS=--import=…`); WEIR_BURNS names the file, which
// processes that follow one another share. Each line is a time of the system's clock and the milliseconds burnt until then.
import { appendFileSync } from 'node:fs';

/** Short, because what matters to others is bursts of more than a few time slices, which have about 3 ms. */
const STEP_MS = 20;
/** While less than a hundredth of the time is burnt, steps grow up to this: notes of many idle processes would burn more than they. */
const LONGEST_STEP_MS = 320;
const WRITE_EVERY_MS = 500;

const file = process.env['WEIR_BURNS'] ?? '';
let lines = '';
let written = performance.now();
/** The start of the process counts, too. */
let noted = 0;
let step = STEP_MS;
note();

function note() {
  const { user, system } = process.cpuUsage();
  const burnt = (user + system) / 1000 - noted;
  noted += burnt;
  lines += `${Date.now()} ${burnt.toFixed(3)}\n`;
  if (performance.now() > written + WRITE_EVERY_MS) {
    appendFileSync(file, lines);
    lines = '';
    written = performance.now();
  }
  step = burnt < step / 100 ? Math.min(2 * step, LONGEST_STEP_MS) : STEP_MS;
  setTimeout(note, step).unref();
}
