const DAY_MS = 86_400_000;
/** Days from 1 March of the year 0, the first day of a 400-year cycle, to 1970. */
const DAYS_BEFORE_1970 = 719_468;
const DAYS_OF_400_YEARS = 146_097;

/**
 * Returns the time as ISO 8601 in UTC, as `Date` would. The first text of a `Date` makes the engine load its time zones: a
 * megabyte of memory for one line in the log.
 */
export function timestamp(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  const time = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60, Math.floor(rest / 1000) % 60];
  const clock = time.map((part) => padded(part, 2)).join(':');
  return `${date(days)}T${clock}.${padded(Math.floor(rest) % 1000, 3)}Z`;
}

/** Counts years from March, so that the leap day is the last day of a year. */
function date(daysSince1970: number): string {
  const days = daysSince1970 + DAYS_BEFORE_1970;
  const age = Math.floor(days / DAYS_OF_400_YEARS);
  const day = days - age * DAYS_OF_400_YEARS;
  const leapDays = Math.floor(day / 1460) - Math.floor(day / 36_524) + Math.floor(day / 146_096);
  const year = Math.floor((day - leapDays) / 365);
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const isNextYear = month >= 10;
  return [
    padded(age * 400 + year + Number(isNextYear), 4),
    padded(isNextYear ? month - 9 : month + 3, 2),
    padded(dayOfMonth, 2),
  ].join('-');
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
