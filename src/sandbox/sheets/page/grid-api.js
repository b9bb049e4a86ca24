/** The grid when it differs from the revision known here; undefined when nothing changed. */
export async function fetchGrid(revision) {
  const query = new URLSearchParams(location.search);
  if (revision !== undefined) query.set('since', revision);
  const response = await fetch(`/__sandbox/grid?${query}`);
  if (response.status === 204) return undefined;
  if (!response.ok) throw new Error(await refusalIn(response));
  return response.json();
}

/** Does what a person does; throws with the reason when the sheet refuses it. */
export async function performAction(action) {
  const response = await fetch(`/__sandbox/person${location.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(action),
  });
  if (!response.ok) throw new Error(await refusalIn(response));
}

async function refusalIn(response) {
  const { error } = await response.json();
  return error.message;
}
