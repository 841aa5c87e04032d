// Calls to the server on this machine. The address of the page has the token, so relative addresses do, too.

const post = (path, value) => fetch(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
}).then(answered, gone);
const get = (path) => fetch(path).then(answered, gone);

function gone() {
  throw new Error("The workbench has stopped. Start it again with the same command: your edits are in its journal.");
}

async function answered(response) {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let reason = text;
  try { reason = JSON.parse(text).error; } catch { /* not JSON: the text is the reason */ }
  throw Object.assign(new Error(reason || `The workbench answered with status ${response.status}.`), { status: response.status });
}

const say = (words) => { byId("status").textContent = words; };
const complain = (words = "") => { byId("problem").textContent = words; };
