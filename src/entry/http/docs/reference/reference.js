/* global SwaggerUIBundle */

import './frame.js';

// Everything is asked of the server that this page came from, under whatever path a proxy gives it.
const here = new URL('.', document.baseURI);

const contents = document.querySelector('#contents');
const reference = document.querySelector('#reference');

/** Opens the operation that the address names, if any, and brings it into view. */
function openNamed() {
  const element = document.getElementById(location.hash.slice(1));
  if (element?.matches('.opblock:not(.is-open)')) element.querySelector('.opblock-summary-control').click();
  element?.scrollIntoView();
}

addEventListener('hashchange', openNamed);

// Whatever a reader opens becomes the address, to be sent to others.
reference.addEventListener('click', (event) => {
  const operation = event.target.closest('.opblock-summary')?.closest('.opblock');
  if (operation) history.replaceState(null, '', `#${operation.id}`);
});

function link(text, elementId) {
  const anchor = document.createElement('a');
  anchor.textContent = text;
  anchor.href = `#${elementId}`;
  anchor.addEventListener('click', () => {
    if (location.hash === anchor.hash) openNamed();
  });
  return anchor;
}

/** The list at the side: every operation under its heading. */
function fillContents({ tags, paths }) {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const { name } of tags) {
    const tag = name.replaceAll(' ', '_');
    const heading = document.createElement('h2');
    heading.append(link(name, `operations-tag-${tag}`));
    const list = document.createElement('ul');
    for (const { operationId } of operations.filter((operation) => operation.tags.includes(name))) {
      const item = document.createElement('li');
      item.append(link(operationId, `operations-${tag}-${operationId}`));
      list.append(item);
    }
    contents.append(heading, list);
  }
}

const drawing = new MutationObserver(() => {
  if (reference.querySelector('.opblock') === null) return;
  drawing.disconnect();
  openNamed();
});
drawing.observe(reference, { childList: true, subtree: true });

const response = await fetch(new URL('api/openapi.json', here));
const spec = await response.json();
fillContents(spec);
SwaggerUIBundle({
  spec: { ...spec, servers: [{ url: here.href.replace(/\/$/, '') }] },
  domNode: reference,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
