import type { FieldMask } from '../wire/field-mask.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from '../wire/json.ts';

/*
 * The API knows every colour under two names, `backgroundColor` and the newer `backgroundColorStyle.rgbColor`.
 * Here only the newer is stored, whichever was sent, and both are shown.
 */

const isColor = (name: string) => /^color$|Color$/.test(name);
const isColorStyle = (name: string) => /^colorStyle$|ColorStyle$/.test(name);

/** What was sent, with every colour under its newer name; where both are sent that one counts. */
export function storedColors(sent: JsonObject): JsonObject {
  const stored: JsonObject = {};
  for (const [name, member] of Object.entries(sent)) {
    if (!isJsonObject(member)) stored[name] = member;
    else if (!isColor(name)) stored[name] = isColorStyle(name) ? member : storedColors(member);
    else if (sent[`${name}Style`] === undefined) stored[`${name}Style`] = { rgbColor: member };
  }
  return stored;
}

/** A mask for what is stored: a colour named in the old way means the newer field. */
export function storedColorMask(mask: FieldMask): FieldMask {
  const entries = [...mask].map(([name, child]): [string, FieldMask] =>
    isColor(name) ? [`${name}Style`, new Map()] : [name, storedColorMask(child)],
  );
  return new Map(entries);
}

/** What is stored, with every colour under both names and without components that are zero. */
export function withColorPairs(stored: JsonObject): JsonObject {
  const shown: JsonObject = {};
  for (const [name, member] of Object.entries(stored)) {
    if (!isJsonObject(member)) shown[name] = member;
    else if (!isColorStyle(name)) shown[name] = withColorPairs(member);
    else if (!isJsonObject(member['rgbColor']))
      Object.assign(shown, member['themeColor'] ? { [name]: member } : {});
    else {
      const rgbColor = withoutDefaults(member['rgbColor']);
      Object.assign(shown, { [name.replace(/Style$/, '')]: rgbColor, [name]: { rgbColor } });
    }
  }
  return shown;
}
