/** Whether each % begins the code of a character. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether what is said of user and password can be decoded, too: a URL leaves it as it is. */
export function isReadable(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { password, username } = new URL(address);
  return isDecodable(`${username}:${password}`);
}
