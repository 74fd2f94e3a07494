from ._run import main

main()
