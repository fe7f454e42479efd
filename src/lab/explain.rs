use std::io::Write;
#[derive(clap::Args, Debug)]
pub struct ExplainArgs {
    name: Option<String>,
}
pub fn run(_a: &ExplainArgs, _o: &mut dyn Write) -> Result<(), String> {
    Ok(())
}
