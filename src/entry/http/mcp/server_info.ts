import { CONTRACT_VERSION } from '#entry/http/openapi/document.ts';

/** Name and version of the server, as sent to clients. */
export const SERVER_INFO = { name: 'tocsin', title: 'Tocsin', version: CONTRACT_VERSION };
