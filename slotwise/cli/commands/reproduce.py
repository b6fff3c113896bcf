"""The command ``reproduce``."""
import typer
app = typer.Typer(help="Published figures beside ours.")

@app.command()
def sam() -> int:
    return 0

@app.callback()
def _c() -> None: ...
