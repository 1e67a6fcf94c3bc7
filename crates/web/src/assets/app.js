// Shows pages with the token of this tab, follows links, sends forms, and keeps what is shown up to date.
'use strict';
(() => {
  const KEY = 'tramline-token';
  const $ = (id) => document.getElementById(id);
  let token = sessionStorage.getItem(KEY);
  let latest = 0;
  let known = new Map();
  let stream = null;

  const say = (text) => { if ($('live').textContent !== text) $('live').textContent = text; };
  const alarm = (text) => { $('alert').textContent = text; };

  // The code stands where no server and no log sees it, and is gone from the address before anything else is done.
  async function enter() {
    const code = new URLSearchParams(location.hash.slice(1)).get('code');
    if (!code) return;
    history.replaceState(null, '', location.pathname + location.search);
    const answer = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    const said = await answer.json();
    if (answer.ok) {
      token = said.token;
      sessionStorage.setItem(KEY, token);
    } else {
      alarm(said.error.message);
    }
  }

  function ask(url, options = {}) {
    const headers = { ...(options.headers || {}), authorization: `Bearer ${token}` };
    return fetch(url, { ...options, headers, cache: 'no-store' });
  }

  function locked() {
    sessionStorage.removeItem(KEY);
    token = null;
    $('main').replaceChildren();
    const title = document.createElement('h1');
    title.textContent = 'Open this page from a terminal';
    const text = document.createElement('p');
    text.textContent = 'It takes a key that was given to a browser by `tm ui --web`. With the token of `tm serve` you can look, and not decide:';
    const form = document.createElement('form');
    form.id = 'unlock';
    form.className = 'filter';
    form.innerHTML = '<label for="token">Token</label><input id="token" type="password" autocomplete="off" required><button type="submit">Look</button>';
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      event.stopPropagation();
      token = $('token').value.trim();
      sessionStorage.setItem(KEY, token);
      show(location.href, { focus: true });
    });
    $('main').append(title, text, form);
    document.title = 'Tramline';
    say('');
  }

  async function load(url) {
    const answer = await ask(url);
    if (answer.status === 401) return null;
    if (!(answer.headers.get('content-type') || '').startsWith('text/html')) {
      const said = await answer.json();
      throw new Error(said.error ? said.error.message : answer.statusText);
    }
    const template = document.createElement('template');
    template.innerHTML = await answer.text();
    return template.content.querySelector('main');
  }

  function note(main) {
    known = new Map();
    for (const part of main.querySelectorAll('[data-live]')) known.set(part.id, part.outerHTML);
  }

  // Whether the server is still reading for what is shown.
  const unfinished = () => !!document.querySelector('[data-again]');

  function told(main) {
    document.title = `${main.dataset.title} · Tramline`;
    say(main.dataset.says || '');
    times(main);
  }

  // Times are made here in UTC, and read in the reader's own.
  function times(within) {
    for (const time of within.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const whole = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
      time.title = whole;
      time.textContent = (time.classList.contains('ago') && ago(at)) || whole;
    }
  }

  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  // How long ago something of this day was.
  function ago(at) {
    const seconds = Math.round((at - Date.now()) / 1000);
    if (seconds > 5 || seconds < -86400) return null;
    if (seconds > -60) return seconds > -10 ? 'just now' : words.format(seconds, 'second');
    if (seconds > -3600) return words.format(Math.round(seconds / 60), 'minute');
    return words.format(Math.round(seconds / 3600), 'hour');
  }
  setInterval(() => times(document), 20000);

  // What was written and not sent is there again when somebody comes back to the page.
  const draft = (field) => `tramline-draft ${location.pathname} ${field.id}`;
  function drafts(main) {
    for (const field of main.querySelectorAll('[data-draft]')) {
      const text = sessionStorage.getItem(draft(field));
      if (!text) continue;
      field.value = text;
      const fold = field.closest('details');
      if (fold) fold.open = true;
    }
  }
  document.addEventListener('input', (event) => {
    if (event.target.matches('[data-draft]')) sessionStorage.setItem(draft(event.target), event.target.value);
  });

  // Shows another page.
  async function show(url, { focus = false, back = false, push = false } = {}) {
    const mine = ++latest;
    try {
      if (!token) return locked();
      const main = await load(url);
      if (mine !== latest) return;
      if (!main) return locked();
      if (push) history.pushState(null, '', url);
      note(main);
      $('page').replaceChildren(main);
      told(main);
      drafts(main);
      fitted(main);
      centre(main);
      tabbed(main);
      alarm('');
      if (focus) main.focus({ preventScroll: back });
      if (!back) scrollTo(0, 0);
      listen();
      if (unfinished()) setTimeout(refresh, 120);
    } catch (error) {
      if (mine === latest) alarm(`This could not be loaded: ${error.message}`);
    }
  }

  // Tabs that are wider than the page show the present one.
  function tabbed(main) {
    const here = main.querySelector('.tabs [aria-current]');
    const all = here && here.closest('ul');
    if (!all) return;
    const [tab, frame] = [here.getBoundingClientRect(), all.getBoundingClientRect()];
    if (tab.right > frame.right) all.scrollLeft += tab.right - frame.right;
  }

  // A drawing that is larger than its frame shows where the run is.
  function centre(within) {
    for (const box of within.querySelectorAll('.drawing')) {
      const marks = box.querySelectorAll('.present');
      const mark = marks[marks.length - 1];
      const [place, frame] = [mark || box.querySelector('svg'), box.getBoundingClientRect()];
      if (!place) continue;
      const at = place.getBoundingClientRect();
      box.scrollLeft += (at.left + at.right - frame.left - frame.right) / 2;
      if (mark) box.scrollTop += (at.top + at.bottom - frame.top - frame.bottom) / 2;
    }
  }

  // Puts what has changed into its place, and leaves everything else as the person has it.
  let waiting = null;
  let again = false;
  let took = 0;
  function refresh() {
    if (waiting) { again = true; return; }
    waiting = (async () => {
      const mine = latest;
      const begun = performance.now();
      try {
        const main = await load(location.href);
        took = performance.now() - begun;
        if (mine !== latest) return;
        if (!main) return locked();
        const seen = new Map();
        for (const part of main.querySelectorAll('[data-live]')) {
          const text = part.outerHTML;
          const here = $(part.id);
          seen.set(part.id, text);
          if (known.get(part.id) === text) continue;
          if (!here) { again = false; note(main); $('page').replaceChildren(main); told(main); return; }
          if (typing(here)) { stale(here); seen.set(part.id, known.get(part.id)); continue; }
          swap(here, part);
        }
        for (const id of known.keys()) {
          const gone = $(id);
          if (!seen.has(id) && gone && !typing(gone)) gone.remove();
        }
        known = seen;
        told(main);
        alarm('');
      } catch (error) {
        alarm(`This is not up to date: ${error.message}`);
      }
    })().finally(() => {
      // What takes long to make is asked for less often: agents have the machine first.
      setTimeout(() => { waiting = null; if (again || unfinished()) { again = false; refresh(); } }, Math.min(2000, Math.max(250, 5 * took)));
    });
  }

  // Whether somebody has begun to write there.
  function typing(part) {
    for (const field of part.querySelectorAll('textarea, input:not([type=hidden]), select')) {
      const begun = field.tagName === 'SELECT' ? false : field.value !== field.defaultValue;
      if (begun || field === document.activeElement) return true;
    }
    return false;
  }

  function stale(part) {
    if (part.querySelector('.stale')) return;
    const text = document.createElement('p');
    text.className = 'attention stale';
    text.setAttribute('role', 'status');
    text.textContent = 'The run has moved since this was shown, and what is sent from here will not count. ';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Show it as it is now';
    button.addEventListener('click', () => show(location.href, { back: true, focus: true }));
    text.append(button);
    part.prepend(text);
  }

  function swap(here, part) {
    const open = new Map();
    for (const fold of here.querySelectorAll('details[id]')) open.set(fold.id, fold.open);
    const focused = here.contains(document.activeElement) ? document.activeElement.id || document.activeElement.getAttribute('href') : null;
    const places = new Map();
    for (const box of here.querySelectorAll('.drawing, pre, .wide')) {
      if (box.scrollTop || box.scrollLeft) places.set(box.getAttribute('aria-label'), [box.scrollTop, box.scrollLeft]);
    }
    here.replaceWith(part);
    for (const fold of part.querySelectorAll('details[id]')) if (open.has(fold.id)) fold.open = open.get(fold.id);
    for (const box of part.querySelectorAll('.drawing, pre, .wide')) {
      const place = places.get(box.getAttribute('aria-label'));
      if (place) [box.scrollTop, box.scrollLeft] = place;
    }
    fitted(part);
    if (!places.size) centre(part);
    if (focused) {
      const same = $(focused) || [...part.querySelectorAll('a[href]')].find((link) => link.getAttribute('href') === focused);
      if (same) same.focus({ preventScroll: true });
    }
    part.classList.add('changed');
    times(part);
  }

  // The events of the run that is shown; on the list those of all.
  let last = null;
  function listen() {
    const run = $('main').dataset.run || '';
    if (stream && stream.run === run) return;
    if (stream) stream.stop.abort();
    const stop = new AbortController();
    stream = { run, stop };
    follow(run, stop.signal);
  }

  async function follow(run, signal) {
    let pause = 1000;
    while (!signal.aborted) {
      try {
        const headers = last ? { 'last-event-id': last } : {};
        const answer = await ask(`/events${run ? `?run=${encodeURIComponent(run)}` : ''}`, { headers, signal });
        if (answer.status === 400) { last = null; throw new Error('the place is lost'); }
        if (!answer.ok) throw new Error(answer.statusText);
        pause = 1000;
        refresh();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          rest += value;
          const pieces = rest.split('\n\n');
          rest = pieces.pop();
          let moved = false;
          for (const piece of pieces) {
            const id = /^id: (.*)$/m.exec(piece);
            if (id) last = id[1];
            moved = moved || /^event: /m.test(piece);
          }
          if (moved) refresh();
        }
      } catch (error) {
        if (signal.aborted) return;
        alarm('The server does not answer: what is shown may be out of date. Trying again…');
      }
      if (signal.aborted) return;
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(pause * 2, 15000);
    }
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href]');
    if (link && link.classList.contains('skip')) { event.preventDefault(); $('main').focus(); return; }
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.getAttribute('href').startsWith('#')) return;
    event.preventDefault();
    show(link.href, { focus: true, push: true });
  });

  // How the drawing of a run is shown; it stays so when the drawing changes.
  const shapes = { fit: false, way: false };
  function fitted(within) {
    const box = document.querySelector('#drawing .drawing');
    if (!box || !within.contains(box)) return;
    for (const [name, is] of Object.entries(shapes)) {
      box.classList.toggle(`is-${name}`, is);
      $(name).setAttribute('aria-pressed', is);
    }
  }
  document.addEventListener('click', (event) => {
    const name = event.target.id;
    if (!(name in shapes)) return;
    shapes[name] = !shapes[name];
    fitted(document);
    if (!shapes.fit) centre(event.target.closest('section'));
  });

  document.addEventListener('change', (event) => {
    if (event.target.matches('[data-submit]')) event.target.form.requestSubmit();
  });
  document.addEventListener('input', (event) => {
    if (event.target.matches('[data-submit]')) {
      const output = event.target.form.querySelector('output');
      if (output) output.textContent = `${event.target.value} of ${event.target.max}`;
    }
  });

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.id === 'unlock') return;
    event.preventDefault();
    if (form.method === 'post') {
      decide(form, event.submitter);
      return;
    }
    const url = new URL(form.getAttribute('action') || location.pathname, location.origin);
    for (const [name, value] of new FormData(form)) if (value) url.searchParams.append(name, value);
    const inside = document.activeElement && form.contains(document.activeElement) ? document.activeElement.id : null;
    show(url.href, { push: true, back: true }).then(() => { if (inside && $(inside)) $(inside).focus(); });
  });

  // Bytes in the letters that addresses can hold, as passkeys come and go.
  const letters = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

  function withPasskeys() {
    if (!/[a-z]/i.test(location.hostname)) throw new Error('a passkey belongs to a name, and this page was opened by a number: open it with `tm ui --web`, or `--listen localhost:7370`');
    if (!navigator.credentials || !window.PublicKeyCredential) throw new Error('this browser has no passkeys for this page');
  }

  async function makePasskey(name) {
    withPasskeys();
    const made = await navigator.credentials.create({ publicKey: {
      rp: { id: location.hostname, name: 'Tramline' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    } });
    return letters(made.response.getPublicKey());
  }

  async function signed(challenge) {
    withPasskeys();
    const { response } = await navigator.credentials.get({ publicKey: {
      rpId: location.hostname, challenge: bytes(challenge), userVerification: 'preferred',
    } });
    const { authenticatorData, clientDataJSON, signature } = response;
    return { authenticatorData: letters(authenticatorData), clientDataJSON: letters(clientDataJSON), signature: letters(signature) };
  }

  // What went wrong with a form, as the server says it.
  class Refused extends Error {}
  async function post(form, sent) {
    const answer = await ask(form.getAttribute('action'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    });
    const said = await answer.json();
    if (answer.ok) return said;
    throw new Refused(said.error.message + (said.error.suggestion ? `\n${said.error.suggestion}` : ''));
  }

  async function decide(form, submitter) {
    const sent = Object.fromEntries(new FormData(form));
    if (submitter && submitter.name) sent[submitter.name] = submitter.value;
    const asks = submitter ? submitter.dataset : {};
    let output = form.querySelector('output');
    if (!output) {
      output = document.createElement('output');
      output.setAttribute('role', 'alert');
      form.append(output);
    }
    for (const other of document.querySelectorAll('.decision output')) other.textContent = '';
    output.classList.remove('is-wrong');
    for (const button of form.querySelectorAll('button')) button.disabled = true;
    try {
      if ('register' in asks) sent.publicKey = await makePasskey(sent.name);
      if ('statement' in asks) sent.statement = true;
      if ('passkey' in asks) sent.passkey = await signed((await post(form, { ...sent, statement: true })).challenge);
      const said = await post(form, sent);
      if (said.command) {
        const line = document.createElement('pre');
        line.tabIndex = 0;
        line.textContent = said.command;
        output.replaceChildren(`${said.message}:`, line);
      } else {
        for (const field of form.querySelectorAll('[data-draft]')) sessionStorage.removeItem(draft(field));
        form.reset();
        await show(location.href, { back: true });
        say(said.message);
        const decided = document.createElement('p');
        decided.className = 'done';
        decided.setAttribute('role', 'status');
        decided.tabIndex = -1;
        decided.textContent = said.message;
        const where = $('now') || $('main');
        where.before(decided);
        decided.focus();
        return;
      }
    } catch (error) {
      output.classList.add('is-wrong');
      output.scrollIntoView({ block: 'nearest' });
      if (error instanceof Refused) output.textContent = error.message;
      else if (error.name === 'NotAllowedError') output.textContent = 'No passkey signed, and nothing was done.';
      else output.textContent = `Nothing was done: ${error.message}`;
    }
    for (const button of form.querySelectorAll('button')) button.disabled = false;
    const field = form.querySelector('textarea');
    if (field && output.classList.contains('is-wrong')) field.focus();
  }

  addEventListener('popstate', () => show(location.href, { back: true }));
  addEventListener('hashchange', () => { if (location.hash.includes('code=')) enter().then(() => show(location.href, { focus: true })); });

  enter().catch((error) => alarm(error.message)).then(() => show(location.href));
})();
