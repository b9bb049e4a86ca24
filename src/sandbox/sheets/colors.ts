import { isJsonObject, type Json, type JsonObject, withoutDefaults } from './json.ts';

/**
 * Stores colours as Google does: zero components left out, and each colour under both of its names
 * (`backgroundColor` and `backgroundColorStyle.rgbColor`), whichever was sent.
 */
export function withColorPairs(value: JsonObject): JsonObject {
  const paired: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    if (!isJsonObject(member)) paired[name] = member;
    else if (/Color$/.test(name)) Object.assign(paired, colorPair(name, member));
    else if (/ColorStyle$/.test(name)) Object.assign(paired, stylePair(name, member));
    else paired[name] = withColorPairs(member);
  }
  return paired;
}

function colorPair(name: string, color: JsonObject): JsonObject {
  const rgbColor = withoutDefaults(color);
  return { [name]: rgbColor, [`${name}Style`]: { rgbColor } };
}

function stylePair(name: string, style: JsonObject): JsonObject {
  const rgbColor: Json | undefined = style['rgbColor'];
  if (isJsonObject(rgbColor)) return colorPair(name.replace(/Style$/, ''), rgbColor);
  return style['themeColor'] === undefined ? {} : { [name]: style };
}
