// @ts-check
// What differs between two runs of the same server, by name.

/** @typedef {keyof typeof MASKS} MaskName */

export const MASKS = {
  time: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?|\b\d{1,2}:\d\d:\d\d(?:\s[AP]M)?|\b1[789]\d{11}\b/g,
  id: /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g,
  duration: /\b\d+(?:\.\d+)?\s?ms\b/g,
  requestId: /requestId\W+[\w-]+/g,
};
