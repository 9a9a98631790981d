const REGIONS = ['phones', 'call', 'thread'];

const notice = document.getElementById('notice');
const thread = document.getElementById('thread');
let isReading = false;
let isStale = false;

/** Reads the page anew and takes over what differs; what is being typed stays. */
async function refresh() {
  isStale = true;
  if (isReading) return;
  isReading = true;
  try {
    while (isStale) {
      isStale = false;
      const response = await fetch(location.href);
      takeOver(new DOMParser().parseFromString(await response.text(), 'text/html'));
    }
  } finally {
    isReading = false;
  }
}

function takeOver(fresh) {
  document.title = fresh.title;
  const wasAtEnd = isAtEnd();
  const focused = describe(document.activeElement);
  for (const id of REGIONS) {
    const now = document.getElementById(id);
    const next = fresh.getElementById(id);
    if (now && next && now.innerHTML !== next.innerHTML) now.innerHTML = next.innerHTML;
  }
  if (wasAtEnd) scrollToEnd();
  if (focused && document.activeElement === document.body) document.querySelector(focused)?.focus();
}

function describe(element) {
  const act = element?.dataset?.act;
  return act ? `[data-act="${act}"]${element.dataset.keys ? `[data-keys="${element.dataset.keys}"]` : ''}` : null;
}

function isAtEnd() {
  return thread !== null && thread.scrollHeight - thread.scrollTop - thread.clientHeight < 40;
}

function scrollToEnd() {
  if (thread) thread.scrollTop = thread.scrollHeight;
}

async function act(name, input) {
  notice.textContent = '';
  const response = await fetch(`phone/api/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (!response.ok) notice.textContent = (await response.json()).error;
  await refresh();
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-act]');
  if (!button) return;
  const { act: name, ...input } = button.dataset;
  void act(name, input);
});

document.getElementById('reply')?.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  const body = form.elements.body.value.trim();
  if (body === '') return;
  form.reset();
  scrollToEnd();
  void act('reply', { from: form.dataset.from, body });
});

scrollToEnd();
const live = new EventSource('phone/live');
live.addEventListener('message', () => void refresh());
live.addEventListener('open', () => void refresh());
