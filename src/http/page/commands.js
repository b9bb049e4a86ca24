import { ask, isAsking, tell } from './dialog.js';
import { element, find } from './element.js';

/* What the page asks the daemon, and the token that it shows for that. The token lives in this tab of the browser and goes when it is closed. */
const tokenName = 'control-token';

const readToken = () => sessionStorage.getItem(tokenName) ?? '';

function keepToken(token) {
  if (token === '') sessionStorage.removeItem(tokenName);
  else sessionStorage.setItem(tokenName, token);
  showAccess();
}

/** Whether reading was refused without the token. */
let isClosed = false;

function showAccess() {
  const button = find('#access');
  const isKnown = readToken() !== '';
  button.textContent = isKnown ? 'Token: in use' : isClosed ? 'Enter the token' : 'Commands: need token';
  button.title = isKnown ? 'Press to forget the token' : 'Press to enter the token of the daemon';
}

/**
 * Takes the token from the fragment of a link, which no request carries, and removes it from the address. Only on this machine: elsewhere a
 * link could travel with it.
 */
function takeTokenOfLink() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (isThisMachine(location.hostname)) keepToken(token);
}

const isThisMachine = (host) => host === 'localhost' || host === '[::1]' || /^127\.[\d.]+$/.test(host);

/** Wires the button that takes the token and forgets it again. */
export function setUpAccess() {
  takeTokenOfLink();
  window.addEventListener('hashchange', takeTokenOfLink);
  find('#access').addEventListener('click', () => {
    if (readToken() === '') void askForToken('');
    else keepToken('');
  });
  showAccess();
}

/**
 * Reads from the daemon. Where that needs the token, the person is asked for it once; after leaving the dialog they find it again behind the
 * button.
 */
export async function read(path, options) {
  const token = readToken();
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(path, { cache: 'no-store', ...options, headers });
  if (answer.status === 401) {
    noteRefusal(token);
    throw new Error('It shows nothing without the token: press “Enter the token”.');
  }
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
}

function noteRefusal(token) {
  const isFirst = !isClosed;
  isClosed = true;
  const wasTaken = token !== '' && token === readToken();
  if (wasTaken) keepToken('');
  else showAccess();
  if ((isFirst || wasTaken) && !isAsking()) void askForToken(wasTaken ? notTaken : '');
}

const notTaken = 'The daemon does not take this token any more.';

/** Asks until the token is right or the person gives up. Answers whether it is right. */
async function askForToken(problem) {
  for (let words = problem; ; ) {
    const input = element('input', {
      type: 'password',
      id: 'token',
      autocomplete: 'off',
      required: true,
      ...(words === '' ? {} : { 'aria-describedby': 'token-problem', 'aria-invalid': 'true' }),
    });
    const content = [
      element(
        'p',
        {},
        'A token that the daemon was started with (CONTROL_TOKEN, or one of CONTROL_TOKENS). It stays in this tab of the browser.',
      ),
      element('label', { for: 'token' }, 'Token'),
      input,
      words === '' ? undefined : element('p.problem', { id: 'token-problem', role: 'alert' }, words),
    ];
    const token = await ask('Enter the token', content, { label: 'Use it', read: () => input.value.trim() });
    if (typeof token !== 'string') return false;
    const tried = await tryToken(token);
    words = tried.problem;
    if (words !== '') continue;
    keepToken(token);
    tell(rightToken[tried.scope]);
    return true;
  }
}

const wrongToken = 'This is not the right token.';

const rightToken = {
  read: 'The token is right: it lets you see everything here, and do nothing.',
  answer: 'The token is right: it lets you answer what waits.',
  operate: 'The token is right: commands are on.',
};

/** Returns what the token may do, or what is wrong with it. */
async function tryToken(token) {
  // No request carries such signs, as quotation marks of a chat, and no daemon takes a token that has them.
  if (/[^\x20-\xff]/.test(token)) return { problem: wrongToken };
  try {
    const answer = await fetch('api/access', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    const { error, scope } = await answer.json();
    if (answer.ok) return { problem: '', scope };
    const isWrong = answer.status === 401 && !error.startsWith('Commands are off');
    return { problem: isWrong ? wrongToken : error };
  } catch {
    return { problem: 'The daemon does not answer.' };
  }
}

/**
 * Gives a command; asks for the token first where it is missing, and again where it is wrong.
 * @returns {Promise<unknown>} what the daemon answered, or `undefined` when it was not done; then the person was told why.
 */
export async function command(path, body) {
  if (readToken() === '' && !(await askForToken(''))) return undefined;
  try {
    const answer = await fetch(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${readToken()}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const said = await answer.json();
    if (answer.ok) return said;
    if (answer.status === 401) {
      keepToken('');
      const isRight = await askForToken(notTaken);
      return isRight ? await command(path, body) : undefined;
    }
    tell(said.error ?? `The daemon answered ${answer.status}.`, true);
  } catch {
    tell('The daemon did not answer. It may have done this all the same: look before you try again.', true);
  }
  return undefined;
}
