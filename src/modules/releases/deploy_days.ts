import { Type } from 'typebox';

/** Deploys of a day, which charts by day mark. */
export const DeployDayView = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer(),
  release: Type.String({ description: 'of the last of them' }),
});
