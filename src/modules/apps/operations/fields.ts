import { Type } from 'typebox';

export const AccessName = Type.Enum(['read_only', 'changes'], {
  description: '`read_only`: to look. `changes`: everything that the current role of the person allows',
});

/** Address where the browser goes once a request is answered. */
export const Redirect = Type.Object({ redirectTo: Type.String({ description: 'where the browser has to go now' }) });

export const RequestUid = Type.String({ description: 'names the request of the app' });
