import { firstSide, type Mirror } from '../../core/mirror.ts';

/** Where the steps in these stores were made, for the journal. */
export const madeAt = ({ side }: Pick<Mirror, 'side'>): string =>
  side === firstSide ? 'in the sheet' : side === 'warehouse' ? 'by SQL' : `in ${side}`;

/** Who wins where a value of these stores replaces one of the CRM. */
export const winnerOf = ({ side }: Pick<Mirror, 'side'>): string => `the ${side}`;
