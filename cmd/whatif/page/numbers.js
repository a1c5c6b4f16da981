// Numbers for display. The solver reads the original texts exactly.

// parseNumber returns the number that a text such as 0.4, 1e-3 or 4/5 represents, and NaN unless it is >= 0.
function parseNumber(text) {
  const decimal = "(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d{1,3})?";
  const match = new RegExp(`^(${decimal})(?:/(${decimal}))?$`).exec(text.trim());
  if (!match) return NaN;
  const value = match[2] === undefined ? Number(match[1]) : Number(match[1]) / Number(match[2]);
  return Number.isFinite(value) ? value : NaN;
}

// decimalText returns a number as a text of few digits, without artefacts of double precision.
function decimalText(value, digits = 6) {
  return String(Number(value.toPrecision(digits)));
}

// shown returns a number with four digits; a number beyond the range of doubles is a text.
function shown(value) {
  if (value === null || value === undefined) return "–";
  const beyond = typeof value === "string" && /^(.*)e([+-]\d{3,})$/.exec(value);
  if (beyond) return `${Number(beyond[1]).toFixed(2)}×10${raised(Number(beyond[2]))}`;
  value = Number(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [digits, exponent] = value.toExponential(2).split("e");
    return `${digits}×10${raised(Number(exponent))}`;
  }
  return String(Number(value.toPrecision(4)));
}

const raised = (exponent) => [...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");

// timeLeft returns a time in words, in seconds or minutes.
function timeLeft(seconds) {
  if (seconds > 100) return `about ${Math.ceil(seconds / 60)} min left`;
  return `about ${seconds > 10 ? 5 * Math.ceil(seconds / 5) : Math.ceil(seconds)} s left`;
}

// percent returns a fraction as a percentage; a fraction below 1 is never shown as 100 %.
function percent(part, digits = 1) {
  if (part === null || part === undefined) return "–";
  const text = (100 * part).toFixed(digits);
  return `${part < 1 && Number(text) === 100 ? (digits > 0 ? ">99.9" : ">99") : text} %`;
}

// change returns a relative change with its sign.
function change(part) {
  if (part === null || part === undefined || !Number.isFinite(part)) return "";
  const size = Math.abs(100 * part);
  const digits = size.toFixed(size < 9.95 ? 1 : 0);
  if (Number(digits) === 0) return "0 %";
  return `${part < 0 ? "−" : "+"}${digits} %`;
}

// niceAbove returns the smallest of 1, 2 and 5 times a power of ten that is at least a number > 0.
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [1, 2, 5, 10].find((digit) => digit * power >= value * (1 - 1e-9));
  return Number((found * power).toPrecision(1));
}

// ticks returns some round numbers between two numbers, at most a hundred.
function ticks(low, high, count) {
  const step = niceAbove((high - low) / count);
  const list = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-9) && list.length < 100; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}

// logTicks returns powers of ten between two numbers, or 1, 2 and 5 times these if there are few.
function logTicks(low, high) {
  const list = [];
  const digits = high / low < 300 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const digit of digits) {
      const value = Number((digit * 10 ** power).toPrecision(1));
      if (value >= low && value <= high) list.push(value);
    }
  }
  const thin = Math.ceil(list.length / 8);
  return list.filter((_, i) => i % thin === 0);
}
