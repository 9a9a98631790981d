import { Type } from 'typebox';

/** The deploys of a day: charts by day mark it. */
export const DeployDayView = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer(),
  release: Type.String({ description: 'of the last of them' }),
});
