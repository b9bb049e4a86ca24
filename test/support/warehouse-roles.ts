import { onTestFinished } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { type DoctorStage, openDoctorStage } from './doctor-stage.ts';
import { openDatabase, type TestDatabase } from './postgres.ts';

/** Of the roles of a stage. */
export const password = 'correct-horse-battery';

export interface WarehouseStage extends DoctorStage {
  readonly database: TestDatabase;
  /** The settings of a link with a database alone, as the role of that name. */
  as(role: string): Environment;
}

/** A CRM and a database, with a role `maker` that may make schemas and a role `guest` that may not. */
export async function openWarehouseStage(): Promise<WarehouseStage> {
  const stage = await openDoctorStage();
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const roles = { maker: `maker_of_${database.name}`, guest: `guest_of_${database.name}` };
  for (const role of Object.values(roles)) {
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    onTestFinished(async () => {
      await database.query(`DROP OWNED BY ${role} CASCADE`);
      await database.query(`DROP ROLE ${role}`);
    });
  }
  await database.query(
    'DO $$ BEGIN CREATE ROLE crm_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$',
  );
  await database.query(`GRANT CREATE ON DATABASE ${database.name} TO ${roles.maker}`);
  const as = (role: string): Environment => {
    const url = new URL(database.url);
    if (role !== 'postgres') Object.assign(url, { username: `${role}_of_${database.name}`, password });
    return { GOOGLE_SPREADSHEET_ID: '', GOOGLE_API_ROOT_URL: '', WAREHOUSE_URL: url.href };
  };
  return { ...stage, database, as };
}
