export async function measurePlans(): Promise<void> {}
