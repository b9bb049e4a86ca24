import { afterEach, beforeEach, describe } from 'vitest';
import {
  openMemoryWarehouseStage,
  openPostgresWarehouseStage,
  type WarehouseContractStage,
} from '../support/warehouse-contract-stage.ts';
import { describeEdits } from './warehouse-contract/edits.ts';
import { describeRuns } from './warehouse-contract/runs.ts';

/** What every implementation of the port `Warehouse` has to do. */
function runWarehouseContract(open: () => Promise<WarehouseContractStage>): void {
  let stage: WarehouseContractStage;
  beforeEach(async () => {
    stage = await open();
  });
  afterEach(() => stage.close());
  describeRuns(() => stage);
  describeEdits(() => stage);
}

describe('a warehouse in memory', () => runWarehouseContract(openMemoryWarehouseStage));
describe('a PostgreSQL database', () => runWarehouseContract(openPostgresWarehouseStage));
