// The script of the documentation's pages (docs/decisions/0337). It is part of each page, after the functions that write
// samples (operation/samples.ts). Texts reach the page as text alone, and what is kept is kept in sessionStorage.
const byId = (id) => document.getElementById(id);

// What is remembered in this tab: credentials and the language of samples.
const kept = {
  read(name) {
    try {
      return sessionStorage.getItem(`praxis-docs-${name}`) ?? '';
    } catch {
      return ''; // storage is switched off
    }
  },
  write(name, value) {
    try {
      if (value === '') sessionStorage.removeItem(`praxis-docs-${name}`);
      else sessionStorage.setItem(`praxis-docs-${name}`, value);
    } catch {
      // nothing is remembered then
    }
  },
};

function makeButton(text, onClick) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.addEventListener('click', () => onClick(button));
  return button;
}

// --- Languages: the same in all groups of tabs, on this page and the next ones. HTTP stands for curl.

const languageOf = (label) => (label === 'HTTP' ? 'curl' : label);

function chooseLanguage(language) {
  for (const input of document.querySelectorAll('.tabs > input')) {
    if (languageOf(input.value) === language) input.checked = true;
  }
}

function startTabs() {
  chooseLanguage(kept.read('language'));
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('.tabs > input')) return;
    kept.write('language', languageOf(target.value));
    chooseLanguage(languageOf(target.value));
  });
}

function offerCopies() {
  if (navigator.clipboard === undefined) return; // not over plain HTTP
  for (const block of document.querySelectorAll('pre')) {
    const button = makeButton('Copy', async () => {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    button.className = 'copy';
    block.after(button);
  }
}

// --- Search

const shownMax = 12;
const searchInput = byId('search-field');
const foundList = byId('search-results');
let entries;

async function loadEntries() {
  entries ??= fetch(searchInput.dataset.index).then((answer) => answer.json());
  try {
    return await entries;
  } catch {
    entries = undefined; // asked for again with the next letter
    return [];
  }
}

// Less is better; undefined: a word is missing. Words of the title count most, its beginning most of all.
function rankEntry([title, hint, , more = ''], words) {
  const [name, rest] = [title.toLowerCase(), `${hint} ${more}`.toLowerCase()];
  let rank = name.length / 1000;
  for (const word of words) {
    if (name.includes(word)) rank += name.startsWith(word) ? 0 : 1;
    else if (rest.includes(word)) rank += 3;
    else return undefined;
  }
  return rank;
}

function findEntries(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return all
    .map((entry) => ({ entry, rank: rankEntry(entry, words) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}

function makeResult([title, hint, url]) {
  const link = document.createElement('a');
  link.href = url;
  const small = document.createElement('small');
  small.textContent = hint;
  link.append(title, ' ', small);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

async function showFound() {
  const text = searchInput.value;
  const found = findEntries(await loadEntries(), text);
  if (text !== searchInput.value) return;
  foundList.hidden = text.trim() === '';
  foundList.replaceChildren(...found.slice(0, shownMax).map(makeResult));
  if (found.length === 0) foundList.textContent = 'Nothing found';
  byId('search-count').textContent = foundList.hidden ? '' : `${found.length} found`;
}

function moveInFound(event) {
  const links = [...foundList.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'ArrowDown') links[at + 1]?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? searchInput).focus();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else if (event.key === 'Escape') {
    foundList.hidden = true;
    searchInput.focus();
  } else return;
  event.preventDefault();
}

function startSearch() {
  const around = searchInput.parentElement;
  around.hidden = false;
  searchInput.addEventListener('focus', loadEntries);
  searchInput.addEventListener('input', showFound);
  around.addEventListener('keydown', moveInFound);
  around.addEventListener('focusout', ({ relatedTarget }) => {
    if (!around.contains(relatedTarget)) foundList.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input, textarea, select')) return;
    event.preventDefault();
    searchInput.focus();
  });
}

// --- Requests

const answerMax = 200_000;
const patienceMs = 60_000;
const form = byId('request');
const origins = JSON.parse(document.body.dataset.origins);
let underWay;

const credentialField = (name) => byId(`credential-${name}`);
const credential = (name) => credentialField(name)?.value.trim() ?? '';

function say(text) {
  byId('state').textContent = text;
}

function startCredentials() {
  for (const input of form.querySelectorAll('[data-credential]')) {
    const { credential: name } = input.dataset;
    const remembered = kept.read(name);
    if (remembered !== '') input.value = remembered;
    // The client secret gets tokens and is needed for nothing else: it is not kept.
    if (name !== 'clientSecret') input.addEventListener('input', () => kept.write(name, input.value.trim()));
  }
  // Who has a token needs the room for answers.
  if (credential('token') !== '') byId('credentials').open = false;
  byId('forget')?.addEventListener('click', () => {
    for (const name of ['apiKey', 'token', 'session', 'clientId', 'clientSecret']) {
      kept.write(name, '');
      if (credentialField(name) !== null) credentialField(name).value = '';
    }
  });
}

// Names are typed in: `constructor` is no environment.
const ownOrigin = (known, name) => (Object.hasOwn(known, name) ? known[name] : undefined);

function findOrigin() {
  // The session of an administrator goes to nobody but who has served this page.
  if (form.dataset.template.startsWith('/admin/')) return location.origin;
  const environment = credential('environment') || byId('path-environment')?.value || '';
  const realm = byId('path-realm')?.value ?? '';
  return ownOrigin(origins.environments, environment) ?? ownOrigin(origins.realms, realm) ?? location.origin;
}

// What is filled in, by where it goes.
function readFields() {
  const read = { path: {}, query: [], header: {}, body: undefined };
  for (const name of ['environment', 'firm', 'product']) read.path[name] = credential(name);
  for (const field of form.querySelectorAll('[data-in]')) {
    const { in: place } = field.dataset;
    const value = field.value.trim();
    if (value === '') continue;
    if (place === 'path') read.path[field.name] = value;
    else if (place === 'query') read.query.push(`${encodeURIComponent(field.name)}=${encodeURIComponent(value)}`);
    else if (place === 'criteria') read.query.push(value);
    else if (place === 'header') read.header[field.name] = value;
    else if (place === 'body') read.body = value;
  }
  return read;
}

function readRequest() {
  const { method, template, needs } = form.dataset;
  const { path: parts, query, header, body } = readFields();
  const path = template.replaceAll(/\{(\w+)\}/g, (whole, name) =>
    parts[name] ? encodeURIComponent(parts[name]) : whole,
  );
  return {
    method,
    url: findOrigin() + path + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers: body === undefined ? header : { ...header, 'Content-Type': byId('content-type').value },
    needsToken: needs.includes('token') || needs.includes('session'),
    needsApiKey: needs.includes('apiKey'),
    body,
  };
}

function showSamples() {
  // biome-ignore lint/correctness/noUndeclaredVariables: operation/samples.ts stands before this script
  for (const [name, text] of Object.entries(buildSamples(readRequest()))) {
    form.querySelector(`[data-sample="${name}"]`).textContent = text;
  }
}

function credentialHeaders({ needsToken, needsApiKey }) {
  return {
    ...(needsToken ? { Authorization: `Bearer ${credential('token') || credential('session')}` } : {}),
    ...(needsApiKey ? { 'x-api-key': credential('apiKey') } : {}),
  };
}

async function sendRequest() {
  const request = readRequest();
  if (!form.reportValidity()) return;
  if (/\{\w+\}/.test(request.url)) {
    say('Fill in where the request goes.');
    return;
  }
  const { method, url, body } = request;
  const headers = { ...request.headers, ...credentialHeaders(request) };
  underWay = new AbortController();
  const signal = AbortSignal.any([underWay.signal, AbortSignal.timeout(patienceMs)]);
  setBusy(true);
  const begun = performance.now();
  try {
    const answer = await fetch(url, { method, headers, body, signal, credentials: 'omit', cache: 'no-store' });
    showAnswer(answer, await answer.text(), performance.now() - begun);
    say('');
  } catch (error) {
    say(underWay.signal.aborted ? 'Cancelled.' : `No answer: ${error.message}`);
  }
  setBusy(false);
}

function setBusy(isBusy) {
  form.querySelector('[type="submit"]').disabled = isBusy;
  byId('cancel').hidden = !isBusy;
  if (isBusy) say('Sent …');
}

function showAnswer(answer, text, ms) {
  byId('answer').hidden = false;
  byId('answer-line').textContent = `${answer.status} ${answer.statusText} · ${Math.round(ms)} ms`;
  byId('answer-line').className = answer.ok ? 'good' : 'bad';
  byId('answer-headers').textContent = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const shown = (answer.headers.get('content-type') ?? '').includes('json') ? layOut(text) : text;
  byId('answer').scrollIntoView({ block: 'nearest' });
  byId('answer-body').textContent = shown.length > answerMax ? `${shown.slice(0, answerMax)}\n… cut here` : shown;
}

// JSON over several lines. Numbers stay as they are written, which JSON.parse does not promise.
function layOut(text) {
  const pieces = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g) ?? [];
  let margin = '\n';
  let laid = '';
  for (const [index, piece] of pieces.entries()) {
    const opened = '{['.includes(pieces[index - 1] ?? ' ');
    if (piece === '}' || piece === ']') {
      margin = margin.slice(0, -2);
      laid += opened ? piece : margin + piece;
      continue;
    }
    if (opened) laid += margin;
    laid += piece === ':' ? ': ' : piece;
    if (piece === ',') laid += margin;
    else if (piece === '{' || piece === '[') margin += '  ';
  }
  return laid;
}

// What a refusal says of itself.
const wordsOf = (told, status) => told.error_description ?? told.issue?.[0]?.diagnostics ?? `${status}`;

async function getToken() {
  const state = byId('token-state');
  const realm = credential('realm');
  const url = `${ownOrigin(origins.realms, realm) ?? location.origin}/auth/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credential('clientId'),
    client_secret: credential('clientSecret'),
  });
  state.textContent = 'Asked …';
  try {
    const headers = { 'x-api-key': credential('apiKey') };
    const answer = await fetch(url, { method: 'POST', headers, body, credentials: 'omit' });
    const told = await answer.json();
    if (answer.ok) {
      credentialField('token').value = told.access_token;
      kept.write('token', told.access_token);
    }
    const end = new Date(Date.now() + told.expires_in * 1000).toLocaleTimeString();
    state.textContent = answer.ok ? `Valid until ${end}` : wordsOf(told, answer.status);
  } catch (error) {
    state.textContent = `No answer: ${error.message}`;
  }
}

// An id that there is, for those who have none at hand: of the first resource that a search of the type finds.
function offerIds() {
  const field = byId('path-id');
  const [, type] = /\/fhir\/v2\/([A-Z][A-Za-z]+)\/\{id\}/.exec(form.dataset.template) ?? [];
  if (field === null || type === undefined) return;
  const button = makeButton('Find one', async () => {
    const request = readRequest();
    const url = `${request.url.split('/fhir/v2/')[0]}/fhir/v2/${type}?_count=1&_elements=id`;
    try {
      const answer = await fetch(url, { headers: credentialHeaders(request), credentials: 'omit' });
      const told = await answer.json();
      field.value = told.entry?.[0]?.resource?.id ?? '';
      const lacking = answer.ok ? `There is no ${type}.` : wordsOf(told, answer.status);
      say(field.value === '' ? lacking : '');
    } catch (error) {
      say(`No answer: ${error.message}`);
    }
    showSamples();
  });
  button.id = 'find-id';
  field.after(' ', button);
}

function startRequests() {
  startCredentials();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void sendRequest(); // it tells what goes wrong itself
  });
  form.addEventListener('input', showSamples);
  byId('cancel').addEventListener('click', () => underWay?.abort());
  byId('get-token')?.addEventListener('click', getToken);
  offerIds();
  showSamples();
  form.querySelector('[type="submit"]').disabled = false;
}

startTabs();
offerCopies();
startSearch();
if (form !== null) startRequests();
