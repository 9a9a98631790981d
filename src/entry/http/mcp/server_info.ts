import { CONTRACT_VERSION } from '#entry/http/openapi/document.ts';

/** What the server calls itself. */
export const SERVER_INFO = { name: 'tocsin', title: 'Tocsin', version: CONTRACT_VERSION };
